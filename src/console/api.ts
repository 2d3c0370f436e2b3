// How pages read and write: every operation of the typed client as a query or a mutation, in one way.
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
import { client, endSession } from './session.ts'

type BodyOf<K extends OperationId> = Awaited<ReturnType<Client[K]>> extends ApiResponse<infer B> ? B : never
type Call = (input?: unknown, options?: CallOptions) => Promise<ApiResponse<unknown>>

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: endSessionIfUnauthorized }),
  defaultOptions: {
    queries: {
      // Events say when something has changed; nothing grows old by itself.
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: 60_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < 2 && (!(error instanceof ApiError) || error.status >= 500),
    },
  },
})

/** The key of a query is the operation and what it is asked with: events know both. */
export const queryKeyOf = <K extends OperationId>(id: K, input?: CallInput<K>) =>
  input === undefined ? [id] : ([id, input] as const)

export function operationQuery<K extends OperationId>(id: K, input?: CallInput<K>) {
  return queryOptions({
    queryKey: queryKeyOf(id, input),
    queryFn: ({ signal }) => (client()[id] as unknown as Call)(input, { signal }) as Promise<ApiResponse<BodyOf<K>>>,
  })
}

/** What an operation answers; the page waits for it. */
export const useBody = <K extends OperationId>(id: K, input?: CallInput<K>): BodyOf<K> =>
  useSuspenseQuery(operationQuery(id, input)).data.body

/** The same with its ETag, for a write that must not overwrite what nobody has seen. */
export const useResponse = <K extends OperationId>(id: K, input?: CallInput<K>): ApiResponse<BodyOf<K>> =>
  useSuspenseQuery(operationQuery(id, input)).data

export interface WriteRequest<K extends OperationId> {
  readonly input: CallInput<K>
  readonly ifMatch?: string | undefined
}

interface WriteOptions<K extends OperationId> {
  /** What is said when it worked; nothing if it is absent. */
  readonly successText?: string | ((body: BodyOf<K>) => string)
  /** A step to another page is waited for: the one that is left does not ask for what was deleted. */
  readonly onDone?: (body: BodyOf<K>) => void | Promise<void>
  /** The form shows the error itself. */
  readonly quiet?: boolean
}

export function useWrite<K extends OperationId>(id: K, { successText, onDone, quiet = false }: WriteOptions<K> = {}) {
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
      // Also without the stream of events what was just done must show.
      await queryClient.invalidateQueries()
    },
    onError: (error) => {
      endSessionIfUnauthorized(error)
      if (!quiet) notifyError(error)
    },
  })
}

/** Something is being written here: what is missing now may be what was just deleted. */
export const useIsWriting = (): boolean => useIsMutating() > 0

export const notifyError = (error: unknown, title = 'That did not work'): void =>
  void notifications.show({ title, message: errorMessage(error), color: 'red', autoClose: 12_000 })

/** What went wrong, for a person. */
export function errorMessage(error: unknown): string {
  if (error instanceof ApiError) {
    const fields = error.body?.violations?.map((v) => `${v.field}: ${v.error}`).join('; ')
    return fields ? `${error.message} (${fields})` : error.message
  }
  if (error instanceof TypeError) return 'The server cannot be reached. Check the network, then try again.'
  return error instanceof Error ? error.message : String(error)
}

function endSessionIfUnauthorized(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) endSession(error.message)
}
