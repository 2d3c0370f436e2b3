// Restarts several devices: one request for each pair group, because paired devices restart together. [contract 4.endpointsReboot]
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import type { RebootTime } from '../../../../contract/fleet/commands.ts'
import { endSessionIfUnauthorized, errorMessage, queryClient } from '../../../api.ts'
import { plural } from '../../../parts/text/words.ts'
import { client } from '../../../session.ts'

/** The mutation takes the id of one device of each pair group. */
export const useRestartGroups = (onDone: () => void, when: RebootTime = 'now') =>
  useMutation({
    mutationFn: async (ids: readonly string[]) => {
      let count = 0
      for (const id of ids) {
        try {
          const { operations } = (await client().endpointsReboot({ id, body: { when } })).body
          count += operations.filter(({ state }) => state !== 'SKIPPED').length
        } catch (error) {
          endSessionIfUnauthorized(error)
          if (count === 0) throw error
          const done = when === 'now' ? 'restarting already' : 'set to restart later'
          throw new Error(`${plural(count, 'device is', 'devices are')} ${done}. ${errorMessage(error)}`)
        }
      }
      return count
    },
    onSuccess: (count) => {
      notifications.show({ message: restartText(count, when), color: 'green' })
      onDone()
    },
    // A part of the devices may restart although a later request failed.
    onSettled: () => queryClient.invalidateQueries(),
  })

/** Says what a restart does to devices, before it is asked for. */
export const restartEffectText = (count: number, isNow: boolean): string =>
  count === 1
    ? `The device will be offline for 1 to 2 minutes${isNow ? ', and an active call will end' : ''}.`
    : `The devices will be offline for 1 to 2 minutes${isNow ? ', and active calls will end' : ''}. Paired devices restart together.`

/** Says what was asked for, after it was. */
export const restartText = (count: number, when: RebootTime): string =>
  when === 'now' ? `Restarting ${plural(count, 'device')}` : `${plural(count, 'device')} will restart later`
