// Regions, locations and rooms as a tree with numbers: what a branch holds, and how its rooms are.
import type { Static } from 'typebox'
import type { RoomInList } from '../../../contract/rooms.ts'
import { type RoomState, roomStates } from '../../domain/room/room-state.tsx'
import type { Sites } from '../../domain/site/sites.ts'
import { includesAll, normalizeText, searchWords } from '../../parts/text/search-text.ts'

type RoomListed = Static<typeof RoomInList>

/** How many rooms, and how the worst of them are. */
export interface Tally {
  readonly rooms: number
  readonly worst: RoomState | undefined
  /** How many are in that state. */
  readonly inWorst: number
}

export interface LocationNode extends Tally {
  readonly id: number
  readonly name: string
  readonly regionId: number | undefined
}

export interface RegionNode extends Tally {
  readonly id: number
  readonly name: string
  readonly locations: readonly LocationNode[]
  /** All of them, also when fewer are shown. */
  readonly locationCount: number
}

export interface SiteTree {
  readonly regions: readonly RegionNode[]
  /** Locations in no region. */
  readonly loose: readonly LocationNode[]
  /** Rooms in no location. */
  readonly homeless: Tally
}

type Counts = Record<RoomState, number>
const noRooms = (): Counts => ({ OFFLINE: 0, DEGRADED: 0, HEALTHY: 0, EMPTY: 0 })

function tallyOf(counts: Counts): Tally {
  const worst = roomStates.find((state) => counts[state] > 0)
  return {
    rooms: roomStates.reduce((sum, state) => sum + counts[state], 0),
    worst,
    inWorst: worst ? counts[worst] : 0,
  }
}

/** Regions and locations are sorted already. */
export function treeOf({ regions, locations }: Sites, rooms: readonly RoomListed[]): SiteTree {
  const homeless = noRooms()
  const counts = new Map(locations.map(({ id }) => [id, noRooms()]))
  for (const { location, state } of rooms) {
    const there = (location && counts.get(location.id)) ?? homeless
    there[state] += 1
  }
  const nodes = locations.map(({ id, name, region }) => ({
    ...{ id, name, regionId: region?.id },
    ...tallyOf(counts.get(id) ?? noRooms()),
  }))
  const ofRegion = Map.groupBy(nodes, (node) => node.regionId)
  return {
    regions: regions.map(({ id, name }) => {
      const inside = ofRegion.get(id) ?? []
      const sum = noRooms()
      for (const node of inside) for (const state of roomStates) sum[state] += counts.get(node.id)?.[state] ?? 0
      return { id, name, locations: inside, locationCount: inside.length, ...tallyOf(sum) }
    }),
    loose: ofRegion.get(undefined) ?? [],
    homeless: tallyOf(homeless),
  }
}

/** What has all the words in its name; a region that has them keeps all its locations. */
export function withWords(tree: SiteTree, text: string): SiteTree {
  const words = searchWords(text)
  if (words.length === 0) return tree
  const fits = (name: string) => includesAll(normalizeText(name), words)
  return {
    regions: tree.regions.flatMap((region) => {
      if (fits(region.name)) return [region]
      const locations = region.locations.filter(({ name }) => fits(`${region.name} ${name}`))
      return locations.length > 0 ? [{ ...region, locations }] : []
    }),
    loose: tree.loose.filter(({ name }) => fits(name)),
    homeless: tree.homeless,
  }
}
