// Lists the places of a job, in turns of the event loop that stay short.
import type { OrgReader } from '../../db/handles.ts'
import type { CountedJob } from './unit-counts.ts'
import { unitRanges } from './unit-ranges.ts'
import { hasUnplacedUnit, listRangeLocations } from './unit-store.ts'

export interface JobPlace {
  readonly location: number | null
  readonly region: number | null
}

/** Returns a place for each location of the rooms; null stands for units that are in no location. */
export async function listJobLocations(on: OrgReader, { id, unit_count }: CountedJob): Promise<JobPlace[]> {
  const places = new Map<number, JobPlace>()
  for await (const range of unitRanges(unit_count)) {
    for (const place of await listRangeLocations(on, { job: id, ...range })) places.set(place.location, place)
  }
  const nowhere = (await hasUnplacedUnit(on, { job: id })) ? [{ location: null, region: null }] : []
  return [...places.values(), ...nowhere]
}
