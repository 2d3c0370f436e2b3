// Knows which devices are being restarted: a device with an open restart is away on purpose. [contract 5.4.operation]
import { useSuspenseQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { commandDeadlineMs } from '../../../../contract/fleet/commands.ts'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import { operationQuery } from '../../../api.ts'

/** The id of each device that is being restarted, with the time at which a person asked for it. */
export type Restarts = ReadonlyMap<string, number>

export function useRestarts(): Restarts {
  const { operations } = useSuspenseQuery(operationQuery('operationsList')).data.body
  return useMemo(() => restartsIn(operations), [operations])
}

type DeviceOperation = ResponseOf<Operations['operationsList']>['operations'][number]

/** The operations are those that are not finished. A restart that waits has not begun. */
export const restartsIn = (operations: readonly DeviceOperation[]): Restarts =>
  new Map(
    operations
      .filter(({ type, waitsFor }) => type === 'REBOOT' && waitsFor === undefined)
      .map(({ endpointId, createdAt }) => [endpointId, Date.parse(createdAt)]),
  )

/** A time in which a disconnect of the device is a restart on purpose. [contract 12.when] */
export interface RestartWindow {
  readonly fromMs: number
  readonly toMs: number
}

/** The restarts among the operations of a device. The deadline counts from the sending: a restart that waits gets it then. */
export const restartWindowsIn = (operations: readonly DeviceOperation[]): RestartWindow[] =>
  operations.filter(isRestart).map(({ deadline }) => {
    const toMs = Date.parse(deadline)
    return { fromMs: toMs - commandDeadlineMs, toMs }
  })

/** A restart that was skipped or cancelled was never sent. */
export const isRestart = ({ type, state }: DeviceOperation): boolean =>
  type === 'REBOOT' && state !== 'SKIPPED' && state !== 'CANCELLED'
