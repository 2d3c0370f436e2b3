// Observes which jobs were stopped because too many of their rooms failed. [contract 10.rule]
import { minuteMs } from '../../../../contract/durations.ts'
import type { OrgReader } from '../../../db/handles.ts'
import { conditionOf, type Observation, type StoppedJob } from '../types.ts'
import { type FullInput, slackMs } from './input.ts'
import { hasJobIncident, listPlacesOfJob, listStoppedJobs } from './job-store.ts'

/** If no run saw the job while it was stopped, its incident can still open for this long after the job has ended. */
const unseenForMs = 10 * minuteMs

/** A rollback that people ask for clears the reason for which the job was stopped; one that follows by itself does not. */
export async function observeJobs(
  on: OrgReader,
  { findings, now, isSilenced }: Pick<FullInput, 'findings' | 'now' | 'isSilenced'>,
): Promise<Observation[]> {
  const known = new Map(findings.filter(({ rule }) => rule === 'job.stopped').map((each) => [each.subject.id, each]))
  const observations: Observation[] = []
  for (const stopped of await listStoppedJobs(on, { endedAfter: now - unseenForMs })) {
    const { id, name, state, reason, updated_at: since } = stopped
    const condition = conditionOf('job.stopped', id)
    const finding = known.get(condition.subject.id)
    if (state === 'ROLLED_BACK') {
      // A finding that exists is cleared below, because the job has ended. During a silence none is made, because each run would make and clear it.
      if (finding || isSilenced(condition.rule, condition.subject)) continue
      // An incident that ended before the job belongs to an earlier stop, and does not count.
      const endedAfter = (stopped.ended_at ?? now) - slackMs
      if (await hasJobIncident(on, { job: condition.subject.id, endedAfter })) continue
    }
    known.delete(condition.subject.id)
    if (state === 'ROLLING_BACK' && reason === null) {
      if (finding) observations.push({ ...condition, state: 'between' })
      continue
    }
    const job = finding?.detail.job ?? (await placeJob(on, id, name))
    observations.push({ ...condition, state: 'holds', since: finding?.since ?? since, detail: { job } })
  }
  for (const { rule, subject } of known.values()) observations.push({ rule, subject, state: 'clear', since: 0 })
  return observations
}

async function placeJob(on: OrgReader, id: number, name: string): Promise<StoppedJob> {
  const places = await listPlacesOfJob(on, { job: id })
  const only = (ids: readonly (number | null)[]) => (new Set(ids).size === 1 ? (ids[0] ?? null) : null)
  return {
    name,
    locationId: only(places.map(({ location_id }) => location_id)),
    regionId: only(places.map(({ region_id }) => region_id)),
  }
}
