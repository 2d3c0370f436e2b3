// Why a room is in the state that it is in, in a sentence.
import { useQueries } from '@tanstack/react-query'
import { operationQuery } from '../../api.ts'
import { type DeviceDetails, deviceName } from '../../domain/device/device.ts'
import type { RoomDetails } from '../../domain/room/room.ts'
import { plural } from '../../parts/text/words.ts'

export function reasonOf({ state, endpoints }: RoomDetails, refusing: readonly DeviceDetails[]): string {
  const offline = endpoints.filter(({ connected }) => !connected)
  if (state === 'EMPTY') return 'No device is enrolled in this room yet.'
  if (state === 'HEALTHY') return `${allOf(endpoints.length)} connected.`
  if (state === 'OFFLINE') return `${allOf(endpoints.length)} offline.`
  const [one, ...more] = refusing
  const sentences = [
    ...(offline.length > 0
      ? [`${offline.length} of ${endpoints.length} devices ${offline.length === 1 ? 'is' : 'are'} offline.`]
      : []),
    ...(one && more.length === 0 ? [`${deviceName(one)} refused its config.`] : []),
    ...(more.length > 0 ? [`${plural(refusing.length, 'device')} refused their config.`] : []),
  ]
  return sentences.length > 0 ? sentences.join(' ') : 'A device refused its config.'
}

const allOf = (count: number) =>
  count === 1 ? 'Its device is' : count === 2 ? 'Both devices are' : `All ${count} devices are`

/** Only a degraded room can have them, and only then it is worth a question for each device. */
export function useRefusing({ state, endpoints }: RoomDetails): readonly DeviceDetails[] {
  const states = useQueries({
    queries: endpoints.map(({ id }) => ({
      ...operationQuery('configStateGet', { id }),
      enabled: state === 'DEGRADED',
    })),
  })
  return state === 'DEGRADED' ? endpoints.filter((_, i) => states[i]?.data?.body.state === 'FAILED') : []
}
