// Builds the tree of regions and locations with the number of their rooms in each state.
import type { Static } from 'typebox'
import type { RoomInList } from '../../../contract/fleet/rooms.ts'
import { includesAll, normalizeText, searchWords } from '../../../contract/search-text.ts'
import { type RestartingRooms, stateDuringRestart } from '../../domain/fleet/room/room-restarts.ts'
import { type RoomState, roomStates } from '../../domain/fleet/room/room-state.tsx'
import type { ListedLocation, Sites } from '../../domain/fleet/site/sites.ts'

type ListedRoom = Static<typeof RoomInList>

/** A tally counts rooms by state. */
export interface RoomTally {
  readonly rooms: number
  readonly counts: StateTally
}
export type StateTally = Readonly<Record<RoomState, number>>

export type LocationNode = ListedLocation & RoomTally

export interface RegionNode extends RoomTally {
  readonly id: number
  readonly name: string
  readonly locations: readonly LocationNode[]
  /** This counts all locations, also while a filter shows fewer. */
  readonly locationCount: number
}

export interface SiteTree {
  readonly regions: readonly RegionNode[]
  readonly locationsWithoutRegion: readonly LocationNode[]
  readonly roomsWithoutLocation: RoomTally
}

const zeroCounts = (): Record<RoomState, number> => ({ OFFLINE: 0, DEGRADED: 0, UNKNOWN: 0, HEALTHY: 0, EMPTY: 0 })

const tallyRooms = (counts: StateTally): RoomTally => ({
  rooms: roomStates.reduce((sum, state) => sum + counts[state], 0),
  counts,
})

/** The regions and locations must be sorted. A room whose devices are being restarted is not offline. */
export function buildSiteTree(
  { regions, locations }: Sites,
  rooms: readonly ListedRoom[],
  restarting: RestartingRooms,
): SiteTree {
  const withoutLocation = zeroCounts()
  const counts = new Map(locations.map(({ id }) => [id, zeroCounts()]))
  for (const room of rooms) {
    const there = (room.location && counts.get(room.location.id)) ?? withoutLocation
    there[stateDuringRestart(room, restarting.get(room.id)?.count ?? 0)] += 1
  }
  const nodes = locations.map((location) => ({
    ...location,
    ...tallyRooms(counts.get(location.id) ?? zeroCounts()),
  }))
  const locationsByRegion = Map.groupBy(nodes, (node) => node.region?.id)
  return {
    regions: regions.map(({ id, name }) => {
      const inside = locationsByRegion.get(id) ?? []
      const sum = zeroCounts()
      for (const node of inside) for (const state of roomStates) sum[state] += node.counts[state]
      return { id, name, locations: inside, locationCount: inside.length, ...tallyRooms(sum) }
    }),
    locationsWithoutRegion: locationsByRegion.get(undefined) ?? [],
    roomsWithoutLocation: tallyRooms(withoutLocation),
  }
}

/** Keeps what has all the words in its name. A region that matches keeps all its locations. */
export function filterSiteTree(tree: SiteTree, text: string): SiteTree {
  const words = searchWords(text)
  if (words.length === 0) return tree
  const matches = (name: string) => includesAll(normalizeText(name), words)
  return {
    regions: tree.regions.flatMap((region) => {
      if (matches(region.name)) return [region]
      const locations = region.locations.filter(({ name }) => matches(`${region.name} ${name}`))
      return locations.length > 0 ? [{ ...region, locations }] : []
    }),
    locationsWithoutRegion: tree.locationsWithoutRegion.filter(({ name }) => matches(name)),
    roomsWithoutLocation: tree.roomsWithoutLocation,
  }
}
