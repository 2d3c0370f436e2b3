// What somebody else changed while a form was open: noticed by its version, and looked at again before anything is overwritten.
import { useState } from 'react'
import { ApiError, type CallInput } from '../../../client/client.ts'
import type { OperationId } from '../../../contract/operations.ts'
import { notifyError, operationQuery, queryClient, useResponse } from '../../api.ts'

/** Noticed here, where the interface has no version to ask for. Its message says what it is by now. */
export class ConcurrentChangeError extends Error {}

export const isConcurrentChange = (error: unknown): boolean =>
  error instanceof ConcurrentChangeError || (error instanceof ApiError && error.status === 412)

/** Also without the stream of events the next look must show what they have made of it. */
export async function refetchIfChanged(error: unknown): Promise<void> {
  if (isConcurrentChange(error)) await queryClient.invalidateQueries()
}

/** What a form began with, and what is there now. A form with the ETag of `seen` as its key begins anew after `reload`, which forgets what was wrong. */
export function useBaseline<K extends OperationId>(id: K, input: CallInput<K>) {
  const now = useResponse(id, input)
  const [seen, setSeen] = useState(now)
  const reload = (forget: () => void) =>
    void queryClient.fetchQuery({ ...operationQuery(id, input), staleTime: 0 }).then((answer) => {
      setSeen(answer)
      forget()
    }, notifyError)
  return { now, seen, reload }
}
