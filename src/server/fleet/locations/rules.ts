// Carries out the operations on locations, one function for each. [interface 11] to [interface 14]

import { VersionedAnswer } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { findReferenced, mustFind } from '../../core/failure.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { raiseResourceVersions } from '../../journal/places/versions.ts'
import { requireVisibleAfter } from '../../journal/places/visible-after.ts'
import { forgetPlace, type PlaceReferences } from '../deleted-place.ts'
import { refuseTakenExternalId } from '../external-ids.ts'
import { insertFormerWindow } from '../former-places/store.ts'
import { findRegion } from '../regions/store.ts'
import { unassignRoomsOfLocation } from '../rooms/store.ts'
import { auditedLocation, type LocationValues, locationValues, locationView } from './fields.ts'
import { deleteLocation, findLocation, insertLocation, listLocations, updateLocation } from './store.ts'

export const locationsList = async (ctx: RequestContext) => ({
  locations: (await listLocations(ctx.db)).map(locationView),
})

export async function locationsGet(ctx: RequestContext, id: number) {
  const location = await requireLocation(ctx.db, id)
  return new VersionedAnswer(location.version, locationView(location))
}

export const locationsCreate = (ctx: RequestContext, body: InputOf<'locationsCreate'>['body']) =>
  change(ctx, 'locationsCreate', async (tx) => {
    const region = await findReferencedRegion(tx, body.regionId)
    requireVisibleAfter(tx, region?.id, ...withoutRegion)
    const id = await nextId(tx, 'location')
    const values = locationValues(body, region?.id ?? null)
    await refuseTakenId(tx, id, values)
    await insertLocation(tx, { id, ...values })
    await raiseResourceVersions(tx, { locationsOfRegion: [region?.id] })
    return {
      result: new VersionedAnswer(1, locationView({ id, ...values, region_name: region?.name ?? null })),
      target: auditRef('location', { id, name: values.name }),
      after: auditedLocation.all(values),
    }
  })

export const locationsUpdate = (ctx: RequestContext, id: number, body: InputOf<'locationsUpdate'>['body']) =>
  change(ctx, 'locationsUpdate', async (tx) => {
    const location = await requireLocation(tx, id)
    checkIfMatch(ctx, location.version)
    const region =
      body.regionId === undefined
        ? { id: location.region_id, name: location.region_name }
        : await findReferencedRegion(tx, body.regionId)
    requireVisibleAfter(tx, region?.id, ...withoutRegion)
    const values = locationValues(body, region?.id ?? null, location)
    await refuseTakenId(tx, id, values)
    await updateLocation(tx, { id, ...values })
    const { change_window } = location
    if (values.change_window !== change_window) {
      await insertFormerWindow(tx, { id, change_window, until: ctx.clock.now() })
    }
    await raiseResourceVersions(tx, { location: [id], locationsOfRegion: [location.region_id, values.region_id] })
    return {
      result: new VersionedAnswer(
        location.version + 1,
        locationView({ id, ...values, region_name: region?.name ?? null }),
      ),
      target: auditRef('location', { id, name: values.name }),
      ...auditedLocation.change(location, values),
    }
  })

export async function locationsDelete(ctx: RequestContext, id: number, references: PlaceReferences) {
  await change(ctx, 'locationsDelete', async (tx) => {
    const location = await requireLocation(tx, id)
    checkIfMatch(ctx, location.version)
    const rooms = await unassignRoomsOfLocation(tx, { location: id })
    if (rooms.length > 0) {
      requireVisibleAfter(tx, null, `the rooms of location ${id} any more`, 'Move or delete them first.')
    }
    const affected = await forgetPlace(tx, references, { type: 'location', id })
    await deleteLocation(tx, { id })
    await insertFormerWindow(tx, { id, change_window: location.change_window, until: ctx.clock.now() })
    await raiseResourceVersions(tx, { locationsOfRegion: [location.region_id] })
    return {
      result: undefined,
      target: auditRef('location', location),
      before: auditedLocation.all(location),
      affected: [...rooms.map((room) => auditRef('room', room)), ...affected],
    }
  })
  ctx.db.channelsChanged()
  return {}
}

const withoutRegion = ['a location without a region', 'Send the regionId of a region that you see.'] as const

const refuseTakenId = (tx: Tx, id: number, { external_id }: LocationValues) =>
  refuseTakenExternalId(tx, 'location', { id, externalId: external_id }, (known) => findLocation(tx, { id: known }))

const requireLocation = async (on: OrgReader, id: number) => mustFind(await findLocation(on, { id }), `location ${id}`)

const findReferencedRegion = (on: OrgReader, id: number | null | undefined) =>
  findReferenced('region', id, (known) => findRegion(on, { id: known }))
