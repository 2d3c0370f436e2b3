// Groups the rooms of the map by region and location. Every group is in the order of names, so a room keeps its place when its state changes.

import { compareText, naturalSortKey } from '../../../../contract/search-text.ts'
import type { RoomTableRow } from '../../../domain/fleet/room/room-rows.ts'
import { unassigned } from '../../../domain/fleet/site/sites.ts'

type Room = Pick<RoomTableRow, 'id' | 'name' | 'sortKey' | 'state' | 'isReconnecting' | 'region' | 'location'>

export interface MapRoom {
  readonly id: number
  readonly name: string
  readonly state: RoomTableRow['state']
  readonly isReconnecting: boolean
}

export interface MapPlace {
  /** The value in the filters of the room list. */
  readonly filterValue: string
  readonly name: string
}

interface MapLocation extends MapPlace {
  readonly rooms: readonly MapRoom[]
}

interface MapRegion extends MapPlace {
  readonly locations: readonly MapLocation[]
}

export const mapRegions = (rows: readonly Room[]): readonly MapRegion[] =>
  groupBy(rows, ({ region }) => region, 'No region').map(({ rooms, ...region }) => ({
    ...region,
    locations: groupBy(rooms, ({ location }) => location, 'No location').map((location) => ({
      ...location,
      rooms: location.rooms
        .toSorted((a, b) => compareText(a.sortKey, b.sortKey) || a.id - b.id)
        .map(({ id, name, state, isReconnecting }) => ({ id, name, state, isReconnecting })),
    })),
  }))

/** Rooms without the place come last. */
const groupBy = (
  rows: readonly Room[],
  placeOf: (row: Room) => { readonly id: number; readonly name: string } | undefined,
  nameOfNone: string,
): (MapPlace & { readonly rooms: readonly Room[] })[] =>
  [...Map.groupBy(rows, (row) => placeOf(row)?.id)]
    .map(([id, rooms]) => ({
      filterValue: id === undefined ? unassigned : String(id),
      name: (rooms[0] && placeOf(rooms[0])?.name) ?? nameOfNone,
      rooms,
    }))
    .sort(
      (a, b) =>
        Number(a.filterValue === unassigned) - Number(b.filterValue === unassigned) ||
        compareText(naturalSortKey(a.name), naturalSortKey(b.name)),
    )
