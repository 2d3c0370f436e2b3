// Finds which silences a caller sees, and in which time zones their places are. [contract 10.silence] [contract 11.access]
import type { OrgReader } from '../../db/handles.ts'
import { findOwnOrg } from '../../journal/orgs/store.ts'
import {
  listEndpointsOfSilences,
  listLocationsOfSilences,
  listRegionsOfSilences,
  listRoomsOfSilences,
  listZones,
  type SilenceRow,
} from './store.ts'

type PlaceColumns = Pick<SilenceRow, 'place_type' | 'place_id'>

/**
 * Returns the visible ones of the silences, each with the time zones of its place. A silence of the whole organisation is visible to
 * everybody, because it silences what they see. One of a place that was deleted is not visible.
 */
export async function findVisible<T extends PlaceColumns>(
  on: OrgReader,
  silences: readonly T[],
): Promise<{ silence: T; zones: readonly string[] }[]> {
  if (silences.length === 0) return []
  const organisationZone = (await findOwnOrg(on))?.timezone ?? 'UTC'
  const zonesByPlace = await findZones(on, silences)
  return silences.flatMap((silence) => {
    const zones = zonesByPlace.get(keyOf(silence.place_type, silence.place_id))
    return zones ? [{ silence, zones: [...new Set(zones.map((zone) => zone ?? organisationZone))] }] : []
  })
}

const keyOf = (type: string, id: string | number): string => `${type} ${id}`

/** The zones of visible places by their keys; null stands for the organisation's zone. */
async function findZones(
  on: OrgReader,
  silences: readonly PlaceColumns[],
): Promise<ReadonlyMap<string, readonly (string | null)[]>> {
  const idsOf = (type: SilenceRow['place_type']) => [
    ...new Set(silences.filter((silence) => silence.place_type === type).map((silence) => silence.place_id)),
  ]
  const [regions, locations, rooms] = [idsOf('region'), idsOf('location'), idsOf('room')].map((ids) =>
    ids.map(Number),
  ) as [number[], number[], number[]]
  const endpoints = idsOf('endpoint')
  const hasAll = silences.some((silence) => silence.place_type === 'all')
  const zones = hasAll || regions.length > 0 ? await listZones(on) : []
  const found = new Map<string, readonly (string | null)[]>()
  // Rooms that are in no location have the organisation's zone.
  if (hasAll) found.set(keyOf('all', ''), [null, ...zones.map((zone) => zone.timezone)])
  if (regions.length > 0) {
    for (const { id } of await listRegionsOfSilences(on, { ids: regions })) {
      const inRegion = zones.filter((zone) => zone.region_id === id)
      found.set(
        keyOf('region', id),
        inRegion.map((zone) => zone.timezone),
      )
    }
  }
  if (locations.length > 0) {
    const rows = await listLocationsOfSilences(on, { ids: locations })
    for (const { id, timezone } of rows) found.set(keyOf('location', id), [timezone])
  }
  if (rooms.length > 0) {
    const rows = await listRoomsOfSilences(on, { ids: rooms })
    for (const { id, timezone } of rows) found.set(keyOf('room', id), [timezone])
  }
  if (endpoints.length > 0) {
    const rows = await listEndpointsOfSilences(on, { ids: endpoints })
    for (const { id, timezone } of rows) found.set(keyOf('endpoint', id), [timezone])
  }
  return found
}
