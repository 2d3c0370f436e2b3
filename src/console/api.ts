// Gives pages every operation of the typed client as a query or as a mutation.
import { notifications } from '@mantine/notifications'
import {
  QueryCache,
  QueryClient,
  queryOptions,
  useIsMutating,
  useMutation,
  useSuspenseQuery,
} from '@tanstack/react-query'
import { ApiError, type ApiResponse, type CallInput, type CallOptions, type Client } from '../client/client.ts'
import type { OperationId } from '../contract/operations.ts'
import { capitalised } from '../contract/words.ts'
import { client, endSession } from './session.ts'

type BodyOf<K extends OperationId> = Awaited<ReturnType<Client[K]>> extends ApiResponse<infer B> ? B : never
type Call = (input?: unknown, options?: CallOptions) => Promise<ApiResponse<unknown>>

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: endSessionIfUnauthorized }),
  defaultOptions: {
    queries: {
      // Answers never expire by time: the event stream invalidates them when something changes.
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 60_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < 2 && (!(error instanceof ApiError) || error.status >= 500),
    },
  },
})

/** A query key is the operation id and its input, so that events can find the queries that they affect. */
export const queryKeyOf = <K extends OperationId>(id: K, input?: CallInput<K>) =>
  input === undefined ? [id] : ([id, input] as const)

export function operationQuery<K extends OperationId>(id: K, input?: CallInput<K>) {
  return queryOptions({
    queryKey: queryKeyOf(id, input),
    queryFn: ({ signal }) => (client()[id] as unknown as Call)(input, { signal }) as Promise<ApiResponse<BodyOf<K>>>,
  })
}

/** Reads the response body of an operation; the component suspends until it is there. */
export const useBody = <K extends OperationId>(id: K, input?: CallInput<K>): BodyOf<K> =>
  useSuspenseQuery(operationQuery(id, input)).data.body

/** Reads the body with its ETag, which a later write sends as If-Match to avoid overwriting a newer version. */
export const useResponse = <K extends OperationId>(id: K, input?: CallInput<K>): ApiResponse<BodyOf<K>> =>
  useSuspenseQuery(operationQuery(id, input)).data

export interface WriteRequest<K extends OperationId> {
  readonly input: CallInput<K>
  readonly ifMatch?: string | undefined
}

interface WriteOptions<K extends OperationId> {
  /** The notification that is shown on success; none is shown if it is absent. */
  readonly successText?: string | ((body: BodyOf<K>) => string)
  /** Awaited before queries are invalidated, so that a page that is being left does not refetch what was deleted. */
  readonly onDone?: (body: BodyOf<K>) => void | Promise<void>
  /** No error notification is shown, because the form shows the error. */
  readonly quiet?: boolean
  /** The operation only tries something, so no answer is read again. */
  readonly changesNothing?: boolean
}

export function useWrite<K extends OperationId>(
  id: K,
  { successText, onDone, quiet = false, changesNothing = false }: WriteOptions<K> = {},
) {
  return useMutation({
    mutationFn: async ({ input, ifMatch }: WriteRequest<K>) =>
      ((await (client()[id] as unknown as Call)(input, { ifMatch })) as ApiResponse<BodyOf<K>>).body,
    onSuccess: async (body) => {
      if (successText)
        notifications.show({
          message: typeof successText === 'string' ? successText : successText(body),
          color: 'green',
        })
      await onDone?.(body)
      // The change must show even while the event stream is down.
      if (!changesNothing) await queryClient.invalidateQueries()
    },
    onError: (error) => {
      endSessionIfUnauthorized(error)
      if (!quiet) notifyError(error)
    },
  })
}

/** A write is in progress: a resource that is missing now may have just been deleted by it. */
export const useIsWriting = (): boolean => useIsMutating() > 0

export const notifyError = (error: unknown, title = 'Something went wrong'): void =>
  void notifications.show({ title, message: errorMessage(error), color: 'red', autoClose: 12_000 })

/** The error as a sentence for the user. */
export function errorMessage(error: unknown): string {
  if (error instanceof ApiError) {
    const fields = error.body?.violations?.map((v) => `${v.field}: ${v.error}`).join('; ')
    const message = capitalised(error.message.replace(/^Operation preconditions not met: /, ''))
    return fields ? `${message} (${fields})` : message
  }
  if (error instanceof TypeError) return 'Can’t reach the server. Check your connection, then try again.'
  return error instanceof Error ? error.message : String(error)
}

export function endSessionIfUnauthorized(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) endSession(error.message)
}
