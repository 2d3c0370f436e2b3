// Carries out the operations on locations, one function for each. [interface 11] to [interface 14]

import type { Static } from 'typebox'
import type { Location } from '../../../contract/locations.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { findReferenced, mustFind } from '../../core/failure.ts'
import type { OrgReader } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { VersionedAnswer } from '../../http/answer.ts'
import type { InputOf } from '../../http/handlers.ts'
import { change } from '../audit/change.ts'
import { auditRef } from '../audit/changed.ts'
import { raiseResourceVersions } from '../places/versions.ts'
import { requireVisibleAfter } from '../places/visible-after.ts'
import { findRegion } from '../regions/store.ts'
import { unassignRoomsOfLocation } from '../rooms/store.ts'
import { deleteLocation, findLocation, insertLocation, listLocations, updateLocation } from './store.ts'

export const locationsList = async (ctx: RequestContext) => ({
  locations: (await listLocations(ctx.db)).map(view),
})

export const locationsCreate = (ctx: RequestContext, body: InputOf<'locationsCreate'>['body']) =>
  change(ctx, 'locationsCreate', async (tx) => {
    const region = await findReferencedRegion(tx, body.regionId)
    requireVisibleAfter(tx, region?.id, ...withoutRegion)
    const id = await nextId(tx, 'location')
    const { name } = body
    await insertLocation(tx, id, { name, region_id: region?.id ?? null })
    await raiseResourceVersions(tx, { locationsOfRegion: [region?.id] })
    return {
      result: new VersionedAnswer(
        1,
        view({ id, name, region_id: region?.id ?? null, region_name: region?.name ?? null }),
      ),
      target: auditRef('location', { id, name }),
      after: { name, regionId: region?.id ?? null },
    }
  })

export const locationsUpdate = (ctx: RequestContext, id: number, body: InputOf<'locationsUpdate'>['body']) =>
  change(ctx, 'locationsUpdate', async (tx) => {
    const location = await requireLocation(tx, id)
    checkIfMatch(ctx, location.version)
    const name = body.name ?? location.name
    const region =
      body.regionId === undefined
        ? { id: location.region_id, name: location.region_name }
        : await findReferencedRegion(tx, body.regionId)
    requireVisibleAfter(tx, region?.id, ...withoutRegion)
    const values = { name, region_id: region?.id ?? null }
    await updateLocation(tx, id, values)
    await raiseResourceVersions(tx, { location: [id], locationsOfRegion: [location.region_id, values.region_id] })
    return {
      result: new VersionedAnswer(location.version + 1, view({ id, ...values, region_name: region?.name ?? null })),
      target: auditRef('location', { id, name }),
      before: { name: location.name, regionId: location.region_id },
      after: { name, regionId: values.region_id },
    }
  })

export const locationsDelete = (ctx: RequestContext, id: number) =>
  change(ctx, 'locationsDelete', async (tx) => {
    const location = await requireLocation(tx, id)
    checkIfMatch(ctx, location.version)
    const rooms = await unassignRoomsOfLocation(tx, { location: id })
    if (rooms.length > 0) {
      requireVisibleAfter(tx, null, `the rooms of location ${id} any more`, 'Move or delete them first.')
    }
    await deleteLocation(tx, { id })
    await raiseResourceVersions(tx, { locationsOfRegion: [location.region_id] })
    return {
      result: {},
      target: auditRef('location', location),
      before: { name: location.name, regionId: location.region_id },
      affected: rooms.map((room) => auditRef('room', room)),
    }
  })

const withoutRegion = ['a location without a region', 'Send the regionId of a region that you see.'] as const

const requireLocation = async (on: OrgReader, id: number) => mustFind(await findLocation(on, { id }), `location ${id}`)

const findReferencedRegion = (on: OrgReader, id: number | null | undefined) =>
  findReferenced('region', id, (known) => findRegion(on, { id: known }))

interface ShownLocation {
  id: number
  name: string
  region_id: number | null
  region_name: string | null
}
const view = ({ id, name, region_id, region_name }: ShownLocation): Static<typeof Location> => ({
  id,
  name,
  ...(region_id !== null && { region: { id: region_id, name: region_name ?? '' } }),
})
