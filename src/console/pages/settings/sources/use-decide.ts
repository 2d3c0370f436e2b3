// Sends decisions about devices of a source, as many requests as they need, one after the other.
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { useCallback } from 'react'
import { endSessionIfUnauthorized, errorMessage, queryClient } from '../../../api.ts'
import { plural } from '../../../parts/text/words.ts'
import { client } from '../../../session.ts'
import { type DeviceDecision, inRequests } from './device-rows.ts'

export interface Decide {
  readonly run: (decided: readonly DeviceDecision[], onDone?: () => void) => void
  readonly isPending: boolean
  readonly error: unknown
  readonly reset: () => void
}

export function useDecide(sourceId: string): Decide {
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: async (decided: readonly DeviceDecision[]) => {
      let done = 0
      for (const devices of inRequests(decided)) {
        try {
          await client().sourceDevicesUpdate({ id: sourceId, body: { devices } })
        } catch (cause) {
          if (done === 0) throw cause
          throw new Error(`${plural(done, 'device')} done, then: ${errorMessage(cause)}`, { cause })
        }
        done += devices.length
      }
      return decided
    },
    onSuccess: (decided) => notifications.show({ message: doneText(decided), color: 'green' }),
    onError: (cause) => {
      endSessionIfUnauthorized(cause)
      notifications.show({ message: errorMessage(cause), color: 'red', autoClose: 12_000 })
    },
    onSettled: () => queryClient.invalidateQueries(),
  })
  const run = useCallback<Decide['run']>(
    (decided, onDone) => mutate(decided, { onSuccess: () => onDone?.() }),
    [mutate],
  )
  return { run, isPending, error, reset }
}

function doneText(decided: readonly DeviceDecision[]): string {
  const count = plural(decided.length, 'device')
  const [{ state } = {}] = decided
  if (state === 'ADOPTED') return `${count} put into rooms. The gateway enrols them now.`
  return state === 'EXCLUDED' ? `${count} excluded` : `${count} taken back`
}
