// Changes the change window and the time zone of many locations, one request for each, and keeps what is needed to undo that.
import { ApiError, type CallInput } from '../../../../client/client.ts'
import type { WeeklyHours } from '../../../../contract/weekly-hours.ts'
import { endSessionIfUnauthorized, errorMessage } from '../../../api.ts'
import type { ListedLocation } from '../../../domain/fleet/site/sites.ts'
import { client } from '../../../session.ts'

/** Undefined keeps the value of each location; null means at any time, or the time zone of the organisation. */
export interface LocationChoice {
  readonly changeWindow?: WeeklyHours | null
  readonly timezone?: string | null
}

export interface SiteChange {
  readonly id: number
  readonly name: string
  readonly before: LocationChoice
  readonly after: LocationChoice
}

type ChangedLocation = Pick<ListedLocation, 'id' | 'name' | 'changeWindow' | 'timezone'>

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** The locations that the choice changes. The values that they have already are left out. */
export const siteChanges = (locations: readonly ChangedLocation[], choice: LocationChoice): SiteChange[] =>
  locations.flatMap(({ id, name, changeWindow = null, timezone = null }) => {
    const isWindow = choice.changeWindow !== undefined && !isSame(choice.changeWindow, changeWindow)
    const isZone = choice.timezone !== undefined && choice.timezone !== timezone
    if (!isWindow && !isZone) return []
    const pick = (from: LocationChoice): LocationChoice => ({
      ...(isWindow && { changeWindow: from.changeWindow ?? null }),
      ...(isZone && { timezone: from.timezone ?? null }),
    })
    return [{ id, name, before: pick({ changeWindow, timezone }), after: pick(choice) }]
  })

export interface SiteResult {
  readonly changed: readonly SiteChange[]
  /** Locations that were not changed, with the reason as a sentence. */
  readonly failed: readonly { readonly change: SiteChange; readonly reason: string }[]
  /** Locations that were left when the user stopped. */
  readonly left: readonly SiteChange[]
}

interface ProgressOptions {
  /** Called after each location with the number of locations that are done. */
  readonly onProgress: (done: number) => void
  readonly signal: AbortSignal
}

/** The locations are changed one after the other, so Stop leaves no request under way. The end of the session stops it too. */
export async function changeSites(
  changes: readonly SiteChange[],
  { onProgress, signal }: ProgressOptions,
): Promise<SiteResult> {
  // Another person can sign in, even to another organisation, before the last location is changed.
  const api = client()
  const changed: SiteChange[] = []
  const failed: { change: SiteChange; reason: string }[] = []
  for (const change of changes) {
    if (signal.aborted) break
    try {
      const body = change.after as CallInput<'locationsUpdate'>['body']
      await api.locationsUpdate({ id: change.id, body })
      changed.push(change)
    } catch (error) {
      endSessionIfUnauthorized(error)
      failed.push({ change, reason: reasonOf(error) })
      if (error instanceof ApiError && error.status === 401) break
    }
    onProgress(changed.length + failed.length)
  }
  return { changed, failed, left: changes.slice(changed.length + failed.length) }
}

const reasonOf = (error: unknown): string =>
  error instanceof ApiError && error.status === 404 ? 'It was deleted, or you no longer see it.' : errorMessage(error)

/** The changes that take these back. */
export const takenBack = (changes: readonly SiteChange[]): SiteChange[] =>
  changes.map(({ id, name, before, after }) => ({ id, name, before: after, after: before }))
