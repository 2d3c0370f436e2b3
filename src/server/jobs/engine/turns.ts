// Decides which of two jobs that touch one endpoint goes first. [contract 12.states]
import { type JobRow, settingsOfJob } from '../rows.ts'
import type { OtherJobEndpoint } from './facts-store.ts'

type OtherJob = Pick<JobRow, 'id' | 'state' | 'started_at' | 'settings'>

/**
 * Whether another job blocks an endpoint for this one: it is changing, watching or rolling back the endpoint, or it runs, started earlier
 * and has yet to change it. A paused job does not block endpoints that it has not begun, and a unit that waits for a connection does not
 * either, because that may take weeks.
 */
export function blocksEndpoint(
  other: OtherJob,
  endpoint: Omit<OtherJobEndpoint, 'job_id' | 'endpoint_id'>,
  job: Pick<JobRow, 'id' | 'started_at'>,
): boolean {
  if (endpoint.unit_state === 'RUNNING' || endpoint.unit_state === 'SOAKING') return true
  if (isRollingBack(other)) return endpoint.touched === 1
  const isNext =
    endpoint.unit_state === 'PENDING' || (endpoint.unit_state === 'WAITING' && endpoint.unit_reason !== 'connection')
  return isNext && other.state === 'RUNNING' && isEarlier(other, job)
}

/** A job that was stopped and will be rolled back waits for what runs, and others must not change its endpoints until then. */
const isRollingBack = (job: OtherJob): boolean =>
  job.state === 'ROLLING_BACK' || (job.state === 'STOPPED' && settingsOfJob(job).onFailure === 'rollBack')

const isEarlier = (a: Pick<JobRow, 'id' | 'started_at'>, b: Pick<JobRow, 'id' | 'started_at'>): boolean =>
  (a.started_at ?? 0) < (b.started_at ?? 0) || ((a.started_at ?? 0) === (b.started_at ?? 0) && a.id < b.id)
