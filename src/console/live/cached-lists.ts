// Reads and replaces cached answers without a request; a stale or unknown answer is left alone.
import type { Query } from '@tanstack/react-query'
import type { ApiResponse } from '../../client/client.ts'
import type { ResponseOf } from '../../contract/operation.ts'
import type { OperationId, Operations } from '../../contract/operations.ts'
import { queryClient } from '../api.ts'
import { invalidateThrottled } from './refetch.ts'

type Body<K extends OperationId> = ResponseOf<Operations[K]>

type CachedQuery<K extends OperationId> = Query<ApiResponse<Body<K>>>
const findQuery = <K extends OperationId>(id: K): CachedQuery<K> | undefined =>
  queryClient.getQueryCache().find<ApiResponse<Body<K>>>({ queryKey: [id], exact: true }) as CachedQuery<K> | undefined

/** The answer without input, if it is cached. A stale one counts only while it is being read again. */
export function cachedBody<K extends OperationId>(id: K): Body<K> | undefined {
  const query = findQuery(id)
  const isUsable = query && (!query.state.isInvalidated || query.state.fetchStatus === 'fetching')
  return isUsable ? query.state.data?.body : undefined
}

/** Reads an answer again whose last read has failed: no event would be applied to it any more. */
export function readAgainIfFailed(id: OperationId): void {
  const state = findQuery(id)?.state
  if (state?.isInvalidated && state.fetchStatus === 'idle') invalidateThrottled(id, () => true, '')
}

/**
 * Changes the cached answer, unless `change` returns the same body. A stale one is read again instead, because a change would make it look fresh. A fetch in flight may have
 * read the state before the event, so its answer is marked as stale when it arrives.
 */
export function patchBody<K extends OperationId>(id: K, change: (body: Body<K>) => Body<K>): void {
  const queryKey = [id]
  const query = findQuery(id)
  const body = cachedBody(id)
  if (query?.state.fetchStatus === 'fetching') {
    void query.promise?.then(
      () => invalidateThrottled(id, () => true, ''),
      () => {},
    )
  }
  if (body === undefined) {
    readAgainIfFailed(id)
    return
  }
  const next = change(body)
  if (next === body) return
  queryClient.setQueryData<ApiResponse<Body<K>>>(queryKey, (response) => response && { ...response, body: next })
}
