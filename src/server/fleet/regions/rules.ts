// Carries out the operations on regions, one function for each. [interface 15] [interface 16] [interface 17]

import { VersionedAnswer } from '../../context/answers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, mustFind } from '../../core/failure.ts'
import type { OrgReader } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { raiseResourceVersions } from '../../journal/places/versions.ts'
import { forgetPlace, type PlaceReferences } from '../deleted-place.ts'
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
    regions: regions.map(({ id, name }) => ({
      id,
      name,
      locations: (locations.get(id) ?? []).map((l) => ({ id: l.id, name: l.name })),
    })),
  }
}

export async function regionsGet(ctx: RequestContext, id: number) {
  const { name, version } = await requireRegion(ctx.db, id)
  return new VersionedAnswer(version, { id, name, locations: await listLocationsOfRegion(ctx.db, { id }) })
}

export const regionsCreate = (ctx: RequestContext, name: string) =>
  change(ctx, 'regionsCreate', async (tx) => {
    const id = await nextId(tx, 'region')
    await insertRegion(tx, { id, name })
    return {
      result: new VersionedAnswer(1, { id, name, locations: [] }),
      target: auditRef('region', { id, name }),
      after: { name },
    }
  })

export const regionsUpdate = (ctx: RequestContext, id: number, name: string) =>
  change(ctx, 'regionsUpdate', async (tx) => {
    const region = await requireRegion(tx, id)
    checkIfMatch(ctx, region.version)
    await updateRegion(tx, { id, name })
    await raiseResourceVersions(tx, { nameOfRegion: [id] })
    const locations = await listLocationsOfRegion(tx, { id })
    return {
      result: new VersionedAnswer(region.version + 1, { id, name, locations }),
      target: auditRef('region', { id, name }),
      before: { name: region.name },
      after: { name },
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
      before: { name: region.name },
      affected,
    }
  })
  ctx.keysChanged()
  ctx.db.channelsChanged()
  return {}
}

const requireRegion = async (on: OrgReader, id: number) => mustFind(await findRegion(on, { id }), `region ${id}`)
