// Detects that a resource was changed by someone else while a form was open, and reloads it.
import { useState } from 'react'
import { ApiError, type CallInput } from '../../../client/client.ts'
import type { OperationId } from '../../../contract/operations.ts'
import { notifyError, operationQuery, queryClient, useResponse } from '../../api.ts'

export const isConcurrentChange = (error: unknown): boolean => error instanceof ApiError && error.status === 412

/** Refetches without waiting for an event, because the event stream may be down. */
export async function refetchIfChanged(error: unknown): Promise<void> {
  if (isConcurrentChange(error)) await queryClient.invalidateQueries()
}

/**
 * `seen` is the version that a form was opened with, `now` the current one. `reload` replaces `seen` and clears the error; a form
 * whose React key is the ETag of `seen` then starts again.
 */
export function useBaseline<K extends OperationId>(id: K, input: CallInput<K>) {
  useState(() => forgetStale(id, input))
  const now = useResponse(id, input)
  const [seen, setSeen] = useState(now)
  const reload = (clearError: () => void) =>
    void queryClient.fetchQuery({ ...operationQuery(id, input), staleTime: 0 }).then((answer) => {
      setSeen(answer)
      clearError()
    }, notifyError)
  return { now, seen, reload }
}

/** An answer that no page shows is not read again when it changes. A form that opened with it could only fail. */
function forgetStale<K extends OperationId>(id: K, input: CallInput<K>): void {
  const { queryKey } = operationQuery(id, input)
  const isStale = queryClient.getQueryState(queryKey)?.isInvalidated
  if (isStale) queryClient.removeQueries({ queryKey, exact: true, type: 'inactive' })
}
