// Counts the rooms of each region by state. Rooms without devices do not count.
import { compareText, naturalSortKey } from '../../../../contract/search-text.ts'
import { unassigned } from '../site/sites.ts'
import type { RoomTableRow } from './room-rows.ts'

/** The states of a bar, in the order in which they are drawn. */
export const barStates = ['HEALTHY', 'UNKNOWN', 'DEGRADED', 'OFFLINE'] as const
export type BarState = (typeof barStates)[number]

export interface RegionStates {
  /** The value of the region in the filter of the room list. */
  readonly filterValue: string
  readonly name: string
  readonly counts: Readonly<Record<BarState, number>>
  readonly total: number
  /** Rooms are UNKNOWN, and none of these has a device behind a gateway. */
  readonly isReconnecting: boolean
}

/** Sorted by name; rooms without a region come last. */
export function regionStates(rows: readonly RoomTableRow[]): RegionStates[] {
  const withDevices = rows.filter(({ state }) => state !== 'EMPTY')
  const groups = Map.groupBy(withDevices, ({ region }) => (region ? String(region.id) : unassigned))
  return [...groups]
    .map(([filterValue, rooms]) => ({
      filterValue,
      name: rooms[0]?.region?.name ?? 'No region',
      counts: {
        HEALTHY: rooms.filter(({ state }) => state === 'HEALTHY').length,
        UNKNOWN: rooms.filter(({ state }) => state === 'UNKNOWN').length,
        DEGRADED: rooms.filter(({ state }) => state === 'DEGRADED').length,
        OFFLINE: rooms.filter(({ state }) => state === 'OFFLINE').length,
      },
      total: rooms.length,
      isReconnecting: rooms.every((room) => room.state !== 'UNKNOWN' || room.isReconnecting),
    }))
    .sort(
      (a, b) =>
        Number(a.filterValue === unassigned) - Number(b.filterValue === unassigned) ||
        compareText(naturalSortKey(a.name), naturalSortKey(b.name)),
    )
}
