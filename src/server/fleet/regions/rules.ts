// Carries out the operations on regions, one function for each. [interface 15] [interface 16] [interface 17]

import { VersionedAnswer } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, mustFind } from '../../core/failure.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { raiseResourceVersions } from '../../journal/places/versions.ts'
import { forgetPlace, type PlaceReferences } from '../deleted-place.ts'
import { refuseTakenExternalId } from '../external-ids.ts'
import { auditedRegion, type RegionValues, regionValues, regionView } from './fields.ts'
import {
  deleteRegion,
  findRegion,
  insertRegion,
  listAssignedLocations,
  listLocationsOfRegion,
  listRegions,
  regionHasLocation,
  updateRegion,
} from './store.ts'

export async function regionsList(ctx: RequestContext) {
  const { db } = ctx
  const regions = await listRegions(db)
  const locations = Map.groupBy(await listAssignedLocations(db), (l) => l.region_id)
  return {
    regions: regions.map((region) => regionView(region, locations.get(region.id) ?? [])),
  }
}

export async function regionsGet(ctx: RequestContext, id: number) {
  const region = await requireRegion(ctx.db, id)
  return new VersionedAnswer(region.version, regionView(region, await listLocationsOfRegion(ctx.db, { id })))
}

export const regionsCreate = (ctx: RequestContext, body: InputOf<'regionsCreate'>['body']) =>
  change(ctx, 'regionsCreate', async (tx) => {
    const region = { id: await nextId(tx, 'region'), ...regionValues(body) }
    await refuseTakenId(tx, region)
    await insertRegion(tx, region)
    return {
      result: new VersionedAnswer(1, regionView(region, [])),
      target: auditRef('region', region),
      after: auditedRegion.all(region),
    }
  })

export const regionsUpdate = (ctx: RequestContext, id: number, body: InputOf<'regionsUpdate'>['body']) =>
  change(ctx, 'regionsUpdate', async (tx) => {
    const region = await requireRegion(tx, id)
    checkIfMatch(ctx, region.version)
    const updated = { id, ...regionValues(body, region) }
    await refuseTakenId(tx, updated)
    await updateRegion(tx, updated)
    await raiseResourceVersions(tx, { nameOfRegion: [id] })
    const locations = await listLocationsOfRegion(tx, { id })
    return {
      result: new VersionedAnswer(region.version + 1, regionView(updated, locations)),
      target: auditRef('region', updated),
      ...auditedRegion.change(region, updated),
    }
  })

export async function regionsDelete(ctx: RequestContext, id: number, references: PlaceReferences) {
  await change(ctx, 'regionsDelete', async (tx) => {
    const region = await requireRegion(tx, id)
    checkIfMatch(ctx, region.version)
    if (await regionHasLocation(tx, { id })) {
      throw new Failure('FAILED_PRECONDITION', `region ${id} still has locations. Move or delete them first.`)
    }
    const affected = await forgetPlace(tx, references, { type: 'region', id })
    await deleteRegion(tx, { id })
    return {
      result: undefined,
      target: auditRef('region', region),
      before: auditedRegion.all(region),
      affected,
    }
  })
  ctx.keysChanged()
  ctx.db.channelsChanged()
  return {}
}

const refuseTakenId = (tx: Tx, { id, external_id }: RegionValues & { id: number }) =>
  refuseTakenExternalId(tx, 'region', { id, externalId: external_id }, (known) => findRegion(tx, { id: known }))

const requireRegion = async (on: OrgReader, id: number) => mustFind(await findRegion(on, { id }), `region ${id}`)
