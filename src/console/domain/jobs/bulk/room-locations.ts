// Changes the location of many rooms, one request for each, and keeps what is needed to undo that. [contract 7.11]
import { ApiError, type Client } from '../../../../client/client.ts'
import { endSessionIfUnauthorized, errorMessage } from '../../../api.ts'
import { client } from '../../../session.ts'

export interface LocationChange {
  readonly id: number
  readonly name: string
  /** The location that the room must still have; null for none. */
  readonly from: number | null
  readonly to: number | null
}

export interface LocationResult {
  readonly changed: readonly LocationChange[]
  /** Rooms that were not changed, with the reason as a sentence. */
  readonly failed: readonly { readonly change: LocationChange; readonly reason: string }[]
}

interface ProgressOptions {
  /** Called after each room with the number of rooms that are done. */
  readonly onProgress: (done: number) => void
  /** The rooms that are left are not changed after this. */
  readonly signal?: AbortSignal
}

/** The rooms are changed one after the other, so Stop leaves no request under way. The end of the session stops it too. */
export async function changeLocations(
  changes: readonly LocationChange[],
  { onProgress, signal }: ProgressOptions,
): Promise<LocationResult> {
  // Another person can sign in, even to another organisation, before the last room is changed.
  const api = client()
  const changed: LocationChange[] = []
  const failed: { change: LocationChange; reason: string }[] = []
  for (const [index, change] of changes.entries()) {
    if (signal?.aborted) break
    try {
      await changeLocation(api, change)
      changed.push(change)
    } catch (error) {
      endSessionIfUnauthorized(error)
      failed.push({ change, reason: reasonOf(error) })
      if (error instanceof ApiError && error.status === 401) break
    }
    onProgress(index + 1)
  }
  return { changed, failed }
}

class LocationChanged extends Error {}

/** Refuses a room that another person has moved since the list was read, and one that changes between the read and the write. */
async function changeLocation(api: Client, { id, from, to }: LocationChange): Promise<void> {
  const { body: room, etag } = await api.roomsGet({ id })
  if ((room.location?.id ?? null) !== from) throw new LocationChanged('Its location was changed in the meantime.')
  await api.roomsUpdate({ id, body: { name: room.name, locationId: to } }, { ifMatch: etag })
}

function reasonOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 412) return 'It was changed in the meantime.'
  if (error instanceof ApiError && error.status === 404) return 'It was deleted, or you no longer see it.'
  return errorMessage(error)
}

/** The changes that take these back, the last one first. */
export const reversed = (changes: readonly LocationChange[]): LocationChange[] =>
  changes.map((change) => ({ ...change, from: change.to, to: change.from })).reverse()
