// Puts the operations of events into the cached list of open operations, which tells a restart from an outage.
import type { ApiResponse } from '../../client/client.ts'
import type { Event } from '../../contract/journal/events.ts'
import type { ResponseOf } from '../../contract/operation.ts'
import type { Operations } from '../../contract/operations.ts'
import { queryClient, queryKeyOf } from '../api.ts'
import { cachedBody, patchBody } from './cached-lists.ts'

type Room = ResponseOf<Operations['roomsGet']>
type Command = ResponseOf<Operations['operationsList']>['operations'][number]

/** A restart that has succeeded is shown for this long, and longer while an answer on the screen still shows the device as offline. */
const restartGraceMs = 4000
const [maxExtraGraceMs, graceStepMs] = [20_000, 1000]

export function patchOperations({ operation }: Event): void {
  if (!operation) return
  const patch = () =>
    patchBody('operationsList', (body) => {
      const operations = withOperation(body.operations, operation)
      return operations === body.operations ? body : { operations: [...operations] }
    })
  const patchWhenOnline = (extraMs: number) => {
    if (extraMs <= 0 || !isShownOffline(operation.endpointId)) patch()
    else setTimeout(() => patchWhenOnline(extraMs - graceStepMs), graceStepMs)
  }
  if (operation.type === 'REBOOT' && operation.state === 'SUCCEEDED')
    setTimeout(() => patchWhenOnline(maxExtraGraceMs), restartGraceMs)
  else patch()
}

/** Whether an answer on the screen still shows the device as offline. On a slow network, an answer from before the reconnect can arrive after its event. */
function isShownOffline(endpointId: string): boolean {
  const onScreen = <T>(queryKey: readonly unknown[]): T[] =>
    queryClient
      .getQueriesData<ApiResponse<T>>({ queryKey, type: 'active' })
      .flatMap(([, response]) => response?.body ?? [])
  const devices = [
    ...(cachedBody('endpointsBasicList')?.endpoints ?? []),
    ...onScreen<Room['endpoints'][number]>(queryKeyOf('endpointsGet', { id: endpointId })),
    ...onScreen<Room>(['roomsGet']).flatMap(({ endpoints }) => endpoints),
  ]
  return devices.some(({ id, connected }) => id === endpointId && !connected)
}

const finalStates: ReadonlySet<Command['state']> = new Set(['SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED', 'SKIPPED'])

/** The list has only operations that are not finished. */
export function withOperation(operations: readonly Command[], operation: Command): readonly Command[] {
  const others = operations.filter(({ id }) => id !== operation.id)
  if (!finalStates.has(operation.state)) return [operation, ...others]
  return others.length === operations.length ? operations : others
}
