// Changes the change window and the time zone of many locations, one after the other, and keeps what is needed to undo that.
import { ApiError, type CallInput, type Client } from '../../../../client/client.ts'
import { type WeeklyHours, weekdays } from '../../../../contract/weekly-hours.ts'
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
  /** The values that the location must still have. */
  readonly before: LocationChoice
  readonly after: LocationChoice
}

type ChangedLocation = Pick<ListedLocation, 'id' | 'name' | 'changeWindow' | 'timezone'>

/** The service stores the days in the order of the week. */
const windowKey = (window: WeeklyHours | null) =>
  window && JSON.stringify([window.from, window.to, weekdays.filter((day) => window.days.includes(day))])

/** Whether a location has these values. A value that the choice keeps is not compared. */
export const hasValues = (
  { changeWindow, timezone }: Pick<ListedLocation, 'changeWindow' | 'timezone'>,
  expected: LocationChoice,
): boolean =>
  (expected.changeWindow === undefined || windowKey(expected.changeWindow) === windowKey(changeWindow ?? null)) &&
  (expected.timezone === undefined || expected.timezone === (timezone ?? null))

/** The locations that the choice changes. The values that they have already are left out. */
export const siteChanges = (locations: readonly ChangedLocation[], choice: LocationChoice): SiteChange[] =>
  locations.flatMap((location) => {
    const { id, name, changeWindow, timezone } = location
    const { changeWindow: newWindow, timezone: newZone } = choice
    const isWindow = newWindow !== undefined && !hasValues(location, { changeWindow: newWindow })
    const isZone = newZone !== undefined && !hasValues(location, { timezone: newZone })
    if (!isWindow && !isZone) return []
    const pick = (from: LocationChoice): LocationChoice => ({
      ...(isWindow && { changeWindow: from.changeWindow ?? null }),
      ...(isZone && { timezone: from.timezone ?? null }),
    })
    return [
      {
        id,
        name,
        before: pick({ changeWindow: changeWindow ?? null, timezone: timezone ?? null }),
        after: pick(choice),
      },
    ]
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
      await changeSite(api, change)
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

const changedText = 'It was changed in the meantime.'

/** Refuses a location whose values another person has set since the list was read, and one that changes between the read and the write. */
async function changeSite(api: Client, { id, before, after }: SiteChange): Promise<void> {
  const { body: location, etag } = await api.locationsGet({ id })
  if (!hasValues(location, before)) throw new Error(changedText)
  await api.locationsUpdate({ id, body: after as CallInput<'locationsUpdate'>['body'] }, { ifMatch: etag })
}

function reasonOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 412) return changedText
  if (error instanceof ApiError && error.status === 404) return 'It was deleted, or you no longer see it.'
  return errorMessage(error)
}

/** The changes that take these back. */
export const takenBack = (changes: readonly SiteChange[]): SiteChange[] =>
  changes.map(({ id, name, before, after }) => ({ id, name, before: after, after: before }))
