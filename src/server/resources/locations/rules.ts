// Carries out the operations on locations, one function for each. [interface 11] to [interface 14]

import type { Static } from 'typebox'
import type { Location } from '../../../contract/locations.ts'
import { type WeeklyHours, weekdays } from '../../../contract/weekly-hours.ts'
import { VersionedAnswer } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { findReferenced, invalid, mustFind } from '../../core/failure.ts'
import { timeZoneProblem } from '../../core/time/time-zone.ts'
import type { OrgReader } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { change } from '../audit/change.ts'
import { auditRef } from '../audit/change-result.ts'
import { raiseResourceVersions } from '../places/versions.ts'
import { requireVisibleAfter } from '../places/visible-after.ts'
import { forgetPlace, type PlaceReferences } from '../regions/deleted-place.ts'
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
    const timezone = requireTimeZone(body.timezone ?? null)
    const change_window = windowText(body.changeWindow ?? null)
    const values = { name, region_id: region?.id ?? null, timezone, change_window }
    await insertLocation(tx, { id, ...values })
    await raiseResourceVersions(tx, { locationsOfRegion: [region?.id] })
    return {
      result: new VersionedAnswer(1, view({ id, ...values, region_name: region?.name ?? null })),
      target: auditRef('location', { id, name }),
      after: {
        name,
        regionId: region?.id ?? null,
        ...(timezone !== null && { timezone }),
        ...(change_window !== null && { changeWindow: windowOf(values) }),
      },
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
    const isZoneNamed = body.timezone !== undefined
    const timezone = body.timezone === undefined ? location.timezone : requireTimeZone(body.timezone)
    const isWindowNamed = body.changeWindow !== undefined
    const change_window = body.changeWindow === undefined ? location.change_window : windowText(body.changeWindow)
    const values = { name, region_id: region?.id ?? null, timezone, change_window }
    await updateLocation(tx, { id, ...values })
    await raiseResourceVersions(tx, { location: [id], locationsOfRegion: [location.region_id, values.region_id] })
    return {
      result: new VersionedAnswer(location.version + 1, view({ id, ...values, region_name: region?.name ?? null })),
      target: auditRef('location', { id, name }),
      before: {
        name: location.name,
        regionId: location.region_id,
        ...(isZoneNamed && { timezone: location.timezone }),
        ...(isWindowNamed && { changeWindow: windowOf(location) }),
      },
      after: {
        name,
        regionId: values.region_id,
        ...(isZoneNamed && { timezone }),
        ...(isWindowNamed && { changeWindow: windowOf(values) }),
      },
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
    await raiseResourceVersions(tx, { locationsOfRegion: [location.region_id] })
    return {
      result: undefined,
      target: auditRef('location', location),
      before: { name: location.name, regionId: location.region_id },
      affected: [...rooms.map((room) => auditRef('room', room)), ...affected],
    }
  })
  ctx.db.channelsChanged()
  return {}
}

const withoutRegion = ['a location without a region', 'Send the regionId of a region that you see.'] as const

const requireLocation = async (on: OrgReader, id: number) => mustFind(await findLocation(on, { id }), `location ${id}`)

const findReferencedRegion = (on: OrgReader, id: number | null | undefined) =>
  findReferenced('region', id, (known) => findRegion(on, { id: known }))

function requireTimeZone(zone: string | null): string | null {
  const problem = zone === null ? undefined : timeZoneProblem(zone)
  if (problem !== undefined) throw invalid([{ field: 'timezone', error: problem }])
  return zone
}

interface ShownLocation {
  id: number
  name: string
  region_id: number | null
  region_name: string | null
  timezone: string | null
  change_window: string | null
}
function view(location: ShownLocation): Static<typeof Location> {
  const { id, name, region_id, region_name, timezone } = location
  const changeWindow = windowOf(location)
  return {
    id,
    name,
    ...(region_id !== null && { region: { id: region_id, name: region_name ?? '' } }),
    ...(timezone !== null && { timezone }),
    ...(changeWindow && { changeWindow }),
  }
}

/** The days are stored once each, in the order of the week. An empty list means no window, like null. */
function windowText(window: WeeklyHours | readonly null[] | null): string | null {
  if (window === null || !('days' in window)) return null
  const { days, from, to } = window
  return JSON.stringify({ days: weekdays.filter((day) => days.includes(day)), from, to })
}

const windowOf = ({ change_window }: { change_window: string | null }): WeeklyHours | null =>
  change_window === null ? null : JSON.parse(change_window)
