// Explains the state of a room in a sentence.
import { useQueries } from '@tanstack/react-query'
import { operationQuery } from '../../api.ts'
import { type DeviceDetails, deviceName } from '../../domain/fleet/device/device.ts'
import type { Restarts } from '../../domain/fleet/device/restarts.ts'
import type { RoomDetails } from '../../domain/fleet/room/room.ts'
import { plural } from '../../parts/text/words.ts'

export function stateReason(room: RoomDetails, rejectingDevices: readonly DeviceDetails[], restarts: Restarts): string {
  const restarting = room.endpoints.filter(({ id }) => restarts.has(id))
  if (restarting.length === 0) return reasonOf(room, rejectingDevices)
  const text = `${plural(restarting.length, 'device is', 'devices are')} restarting.`
  const others = room.endpoints.filter(({ id }) => !restarts.has(id))
  const offlineCount = others.filter(({ state }) => state === 'OFFLINE').length
  return offlineCount === 0 ? text : `${text} ${plural(offlineCount, 'other device is', 'other devices are')} offline.`
}

function reasonOf({ state, endpoints }: RoomDetails, rejectingDevices: readonly DeviceDetails[]): string {
  if (state === 'EMPTY') return 'No devices in this room yet.'
  const [one, ...more] = rejectingDevices
  const sentences = [
    ...presenceTexts(endpoints),
    ...(one && more.length === 0 ? [`${deviceName(one)} rejected its settings.`] : []),
    ...(more.length > 0 ? [`${plural(rejectingDevices.length, 'device')} rejected their settings.`] : []),
  ]
  if (sentences.length > 0) return sentences.join(' ')
  return state === 'DEGRADED'
    ? 'A device rejected its settings.'
    : `${devicesText(endpoints.length, endpoints.length)} ${endpoints.length === 1 ? 'is' : 'are'} online.`
}

/** One sentence for each state that devices are in, the worst first; none if all are online. */
function presenceTexts(endpoints: readonly DeviceDetails[]): string[] {
  const groups: readonly [one: string, more: string, isIn: (device: DeviceDetails) => boolean][] = [
    ['is offline', 'are offline', ({ state }) => state === 'OFFLINE'],
    ['cannot be seen', 'cannot be seen', ({ state, hasGateway }) => state === 'UNKNOWN' && hasGateway === true],
    ['is reconnecting', 'are reconnecting', ({ state, hasGateway }) => state === 'UNKNOWN' && !hasGateway],
    ['is asleep', 'are asleep', ({ state }) => state === 'ASLEEP'],
  ]
  return groups.flatMap(([one, more, isIn]) => {
    const count = endpoints.filter(isIn).length
    return count === 0 ? [] : [`${devicesText(count, endpoints.length)} ${count === 1 ? one : more}.`]
  })
}

/** "The device", "Both devices", "All 3 devices" or "1 of 3 devices". */
function devicesText(count: number, all: number): string {
  if (count < all) return `${count} of ${all} devices`
  return all === 1 ? 'The device' : all === 2 ? 'Both devices' : `All ${all} devices`
}

/** The config states are read for degraded rooms only: no other room can have a device that rejected its settings. */
export function useRejectingDevices({ state, endpoints }: RoomDetails): readonly DeviceDetails[] {
  const states = useQueries({
    queries: endpoints.map(({ id }) => ({
      ...operationQuery('configStateGet', { id }),
      enabled: state === 'DEGRADED',
    })),
  })
  return state === 'DEGRADED' ? endpoints.filter((_, i) => states[i]?.data?.body.state === 'FAILED') : []
}
