// Since when a room has its state: the time at which a device came online or went offline. Server restarts do not count.
import { sinceOfListed, stateOfListed } from '../../../../contract/fleet/endpoints.ts'
import type { ListedDevice } from '../device/device.ts'
import type { RoomState } from './room-state.tsx'

type Presence = Pick<ListedDevice, 'connected' | 'connectionTime' | 'state' | 'since'>

/** Undefined if no device led to the state, such as for a room without devices or with rejected settings, or if the state is not known. */
export function roomSinceMs(state: RoomState, devices: readonly Presence[]): number | undefined {
  const times = (of: readonly Presence[]) => of.flatMap((device) => Date.parse(sinceOfListed(device) ?? '') || [])
  if (state === 'UNKNOWN') return
  const offline = devices.filter((device) => stateOfListed(device) === 'OFFLINE')
  // A device that falls asleep changes the state of its room only if all of them are asleep.
  const awake = devices.filter((device) => stateOfListed(device) !== 'ASLEEP')
  // The first device that went away made the room degraded; the last one made it offline, or healthy again.
  if (state === 'DEGRADED') return finite(Math.min(...times(offline)))
  if (state === 'OFFLINE') return finite(Math.max(...times(offline)))
  return finite(Math.max(...times(awake.length > 0 ? awake : devices)))
}

/** The earliest and the latest of no times are infinite. */
const finite = (ms: number): number | undefined => (Number.isFinite(ms) ? ms : undefined)
