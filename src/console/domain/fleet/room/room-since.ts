// Since when a room has its state: the time at which a device came online or went offline. Server restarts do not count.
import type { ListedDevice } from '../device/device.ts'
import type { RoomState } from './room-state.tsx'

type Presence = Pick<ListedDevice, 'state' | 'since'>

/** Undefined if no device led to the state, such as for a room without devices or with rejected settings. */
export function roomSinceMs(state: RoomState, devices: readonly Presence[]): number | undefined {
  const times = (of: readonly Presence[]) => of.flatMap(({ since }) => (since === undefined ? [] : [Date.parse(since)]))
  const offline = devices.filter((device) => device.state === 'OFFLINE')
  // The first device that went away made the room degraded; the last one made it offline, or healthy again.
  const found =
    state === 'DEGRADED' ? Math.min(...times(offline)) : Math.max(...times(state === 'OFFLINE' ? offline : devices))
  return Number.isFinite(found) ? found : undefined
}
