// Knows which devices are being restarted: a device with an open restart is away on purpose. [contract 5.4.operation]
import { useSuspenseQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { operationQuery } from '../../api.ts'

/** The id of each device that is being restarted, with the time at which a person asked for it. */
export type Restarts = ReadonlyMap<string, number>

export function useRestarts(): Restarts {
  const { operations } = useSuspenseQuery(operationQuery('operationsList')).data.body
  return useMemo(() => restartsIn(operations), [operations])
}

type OpenOperation = ResponseOf<Operations['operationsList']>['operations'][number]

/** The operations are those that are not finished. A restart that waits has not begun. */
export const restartsIn = (operations: readonly OpenOperation[]): Restarts =>
  new Map(
    operations
      .filter(({ type, waitsFor }) => type === 'REBOOT' && waitsFor === undefined)
      .map(({ endpointId, createdAt }) => [endpointId, Date.parse(createdAt)]),
  )
