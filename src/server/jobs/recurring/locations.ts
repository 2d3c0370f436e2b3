// The locations of the rooms that a recurring job targets: who sees it, and in which time zones it runs. [contract 12.recurring]
import type { OrgReader, TelemetryTx, Tx } from '../../db/handles.ts'
import { targetOfJob } from '../rows.ts'
import type { JobPlace } from '../units/job-places.ts'
import { listTargetedLocations } from '../units/target-store.ts'
import {
  deleteRecurringJobLocation,
  insertRecurringJobLocation,
  listLocationsOfRecurringJob,
  type RecurringJobRow,
} from './store.ts'

type Located = Pick<RecurringJobRow, 'id' | 'unplaced'>

interface FoundLocations {
  readonly locations: ReadonlySet<number>
  /** Whether targeted endpoints are in no location. */
  readonly unplaced: 0 | 1
}

/** Finds what the reader sees of the target now. */
export async function findLocations(on: OrgReader, row: Pick<RecurringJobRow, 'target'>): Promise<FoundLocations> {
  const rows = await listTargetedLocations(on, targetOfJob(row))
  const locations = rows.flatMap(({ location }) => location ?? [])
  return { locations: new Set(locations), unplaced: locations.length < rows.length ? 1 : 0 }
}

/** Stores the differences only. */
export async function writeLocations(tx: Tx | TelemetryTx, id: number, { locations }: FoundLocations): Promise<void> {
  const before = new Set((await listLocationsOfRecurringJob(tx, { id })).map(({ location }) => location))
  for (const location of before.difference(locations)) await deleteRecurringJobLocation(tx, { id, location })
  for (const location of [...locations].filter((location) => !before.has(location))) {
    await insertRecurringJobLocation(tx, { id, location })
  }
}

/** Null stands for endpoints in no location. */
export async function listPlaces(on: OrgReader, { id, unplaced }: Located): Promise<JobPlace[]> {
  const places: JobPlace[] = await listLocationsOfRecurringJob(on, { id })
  return unplaced === 1 ? [...places, { location: null, region: null }] : places
}

/** Counts the places that keep a caller who is limited to regions from steering a recurring job. */
export async function countHiddenPlaces(on: OrgReader, row: Located): Promise<number> {
  if (on.access.isEverything) return 0
  return (await listPlaces(on, row)).filter(({ region }) => !on.access.sees(region)).length
}

export const isWhollyVisible = async (on: OrgReader, row: Located): Promise<boolean> =>
  (await countHiddenPlaces(on, row)) === 0
