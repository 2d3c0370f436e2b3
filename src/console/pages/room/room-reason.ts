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
  const offline = endpoints.filter((device) => device.state === 'OFFLINE')
  const reconnecting = endpoints.filter((device) => device.state === 'UNKNOWN')
  if (state === 'EMPTY') return 'No devices in this room yet.'
  if (state === 'HEALTHY') return `${allDevicesText(endpoints.length)} online.`
  if (state === 'OFFLINE') return `${allDevicesText(endpoints.length)} offline.`
  const [one, ...more] = rejectingDevices
  const sentences = [
    ...(offline.length > 0 ? [countText(offline.length, endpoints.length, 'offline')] : []),
    ...(reconnecting.length > 0 ? [countText(reconnecting.length, endpoints.length, 'reconnecting')] : []),
    ...(one && more.length === 0 ? [`${deviceName(one)} rejected its settings.`] : []),
    ...(more.length > 0 ? [`${plural(rejectingDevices.length, 'device')} rejected their settings.`] : []),
  ]
  return sentences.length > 0 ? sentences.join(' ') : 'A device rejected its settings.'
}

const countText = (count: number, all: number, what: string) =>
  count === all
    ? `${allDevicesText(all)} ${what}.`
    : `${count} of ${all} devices ${count === 1 ? 'is' : 'are'} ${what}.`

const allDevicesText = (count: number) =>
  count === 1 ? 'The device is' : count === 2 ? 'Both devices are' : `All ${count} devices are`

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
