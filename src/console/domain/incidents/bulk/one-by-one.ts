// Sends one request for each thing, one after the other, and keeps what was refused with the reason.
import { ApiError } from '../../../../client/client.ts'
import { endSessionIfUnauthorized, errorMessage } from '../../../api.ts'

export interface RefusedItem<T> {
  readonly item: T
  /** A sentence. */
  readonly reason: string
}

export interface OneByOneResult<T> {
  readonly done: readonly T[]
  readonly refused: readonly RefusedItem<T>[]
}

interface Options {
  /** Called with the number of things that were tried. */
  readonly onProgress: (count: number) => void
  readonly signal?: AbortSignal
}

/** Stop leaves no request under way, and the things that are left are not tried. The end of the session stops the run too. */
export async function oneByOne<T>(
  items: readonly T[],
  send: (item: T) => Promise<unknown>,
  { onProgress, signal }: Options,
): Promise<OneByOneResult<T>> {
  const done: T[] = []
  const refused: RefusedItem<T>[] = []
  for (const [index, item] of items.entries()) {
    if (signal?.aborted) break
    try {
      await send(item)
      done.push(item)
    } catch (error) {
      endSessionIfUnauthorized(error)
      refused.push({ item, reason: errorMessage(error) })
      if (error instanceof ApiError && error.status === 401) break
    }
    onProgress(index + 1)
  }
  return { done, refused }
}
