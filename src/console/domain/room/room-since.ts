// Since when a room has its state: the time of the connect or disconnect that led to it.
import type { ListedDevice } from '../device/device.ts'
import type { RoomState } from './room-state.tsx'

type Presence = Pick<ListedDevice, 'connected' | 'connectionTime'>

/** Undefined if no connect or disconnect led to the state, such as for a room without devices or with rejected settings. */
export function roomSinceMs(state: RoomState, devices: readonly Presence[]): number | undefined {
  const times = (of: readonly Presence[]) =>
    of.flatMap(({ connectionTime }) => (connectionTime === undefined ? [] : [Date.parse(connectionTime)]))
  // The first device that went away made the room degraded; the last one made it offline, or healthy again.
  const found =
    state === 'DEGRADED'
      ? Math.min(...times(devices.filter(({ connected }) => !connected)))
      : Math.max(...times(devices))
  return Number.isFinite(found) ? found : undefined
}
