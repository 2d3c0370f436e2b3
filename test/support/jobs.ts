// Jobs for tests that are not about how jobs advance: their rows are written as the engine would write them.
import { dayMs } from '../../src/contract/durations.ts'
import type { JobActionType } from '../../src/contract/jobs/action-table.ts'
import { type JobState, openUnitStates, type UnitState } from '../../src/contract/jobs/job-states.ts'
import { type Weekday, weekdays } from '../../src/contract/weekly-hours.ts'
import type { JobEndpointState } from '../../src/server/db/schema/jobs.ts'
import { isFinalState } from '../../src/server/jobs/rows.ts'
import type { Harness, TestOrg } from './harness.ts'

export interface NewJob {
  readonly state: JobState
  /** By default MESSAGE. */
  readonly type?: JobActionType
  readonly room: number
  readonly endpoint: string
  /** The state of its only unit; by default one in which the engine leaves it alone. */
  readonly unit?: UnitState
  readonly endpointState?: JobEndpointState
  /** The operation that the job is waiting for. */
  readonly operation?: string
  readonly startAt?: number
  readonly endedAt?: number
}

const actions: Readonly<Record<string, object>> = {
  CONFIG: { config: { nightMode: true } },
  ASSIGN_PROFILE: { profileId: null },
  MESSAGE: { message: 'Hello.' },
}

/** The day of the week in some days: of a recurring job whose runs are not due while a test runs. */
export const weekdayIn = ({ clock }: Harness, days: number): Weekday =>
  weekdays[(new Date(clock.now() + days * dayMs).getUTCDay() + 6) % 7] as Weekday

/** Inserts jobs with one unit each, and returns their ids. They respect rooms in use, so that the engine begins nothing in such a room. */
export function newJobs(harness: Harness, { org }: TestOrg, jobs: readonly NewJob[]): Promise<string[]> {
  const { clock, db } = harness.services
  const now = clock.now()
  return db.systemTransaction(async ({ kysely }) => {
    const { last } = await kysely
      .insertInto('counters')
      .values({ org: org.key, noun: 'job', last: jobs.length })
      .onConflict((c) =>
        c.columns(['org', 'noun']).doUpdateSet((e) => ({ last: e('counters.last', '+', jobs.length) })),
      )
      .returning('last')
      .executeTakeFirstOrThrow()
    const rows = jobs.map((job, i) => ({ ...job, id: last - jobs.length + 1 + i }))
    await kysely
      .insertInto('jobs')
      .values(
        rows.map(({ id, state, type = 'MESSAGE', room, startAt, endedAt }) => {
          const isStarted = state !== 'DRAFT' && state !== 'SCHEDULED'
          return {
            org: org.key,
            id,
            version: 1,
            name: `Job ${id}`,
            state,
            reason: null,
            action: JSON.stringify({ type, ...actions[type] }),
            target: JSON.stringify({ roomIds: [room] }),
            settings: JSON.stringify({
              stages: [{ percent: 100, manual: false }],
              soakMinutes: 0,
              failures: { percent: 5, atLeast: 1 },
              onFailure: 'pause',
              respect: { window: false, idle: true },
              pace: { atOnce: 50, atOncePerLocation: 50 },
              skipConflicts: false,
              includeNew: false,
            }),
            actor_type: 'CLI' as const,
            actor_id: 'test',
            actor_name: 'Test',
            user_id: null,
            key_id: null,
            stage: isStarted ? 1 : 0,
            stage_times: JSON.stringify(isStarted ? [now] : []),
            stage_count: 1,
            unit_count: 1,
            endpoint_count: 1,
            created_at: now,
            updated_at: now,
            start_at: startAt ?? null,
            started_at: isStarted ? now : null,
            ended_at: endedAt ?? (isFinalState(state) ? now : null),
            deadline: now + 14 * 86_400_000,
          }
        }),
      )
      .execute()
    await kysely
      .insertInto('job_units')
      .values(
        rows.map(({ id, state, unit = unitStateIn(state) }) => ({
          org: org.key,
          job_id: id,
          number: 1,
          stage: 1,
          state: unit,
          reason: unit === 'WAITING' ? 'connection' : null,
          name: 'Fjord',
          location_id: null,
          endpoint_count: 1,
          began_at: hasBegun(unit) ? now : null,
          sent_at: hasBegun(unit) ? now : null,
          soak_until: unit === 'SOAKING' ? now + 86_400_000 : null,
          ended_at: (openUnitStates as readonly UnitState[]).includes(unit) ? null : now,
        })),
      )
      .execute()
    await kysely
      .insertInto('job_unit_rooms')
      .values(rows.map(({ id, room }) => ({ org: org.key, job_id: id, unit: 1, room_id: room, profile_before: null })))
      .execute()
    await kysely
      .insertInto('job_endpoints')
      .values(
        rows.map(({ id, state, endpoint, operation, endpointState, unit = unitStateIn(state) }) => ({
          org: org.key,
          job_id: id,
          endpoint_id: endpoint,
          unit: 1,
          name: 'Bar',
          state: endpointState ?? endpointStates[unit] ?? 'PENDING',
          error: null,
          version_before: null,
          version_after: null,
          profile_before: null,
          operation_id: operation ?? null,
        })),
      )
      .execute()
    return rows.map(({ id }) => String(id))
  })
}

const hasBegun = (unit: UnitState) => unit !== 'PENDING' && unit !== 'WAITING'

const endpointStates: Partial<Record<UnitState, JobEndpointState>> = {
  RUNNING: 'SENT',
  SUCCEEDED: 'DONE',
  FAILED: 'FAILED',
}

function unitStateIn(state: JobState): UnitState {
  if (state === 'DRAFT' || state === 'SCHEDULED') return 'PENDING'
  if (state === 'STOPPED' || state === 'INCOMPLETE') return 'FAILED'
  return isFinalState(state) ? 'SUCCEEDED' : 'RUNNING'
}
