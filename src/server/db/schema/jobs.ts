// The tables of jobs and of the versions of profiles, as Kysely types.

import type { Generated } from 'kysely'
import type { JobState, UnitState } from '../../../contract/jobs/job-states.ts'

export type JobEndpointState = 'PENDING' | 'SENT' | 'DONE' | 'FAILED' | 'SKIPPED' | 'ROLLED_BACK' | 'KEPT'

export interface JobSchema {
  profile_versions: {
    org: number
    profile_id: number
    version: number
    name: string
    description: string | null
    config: string
    /** The sealed passwords, as in `profiles`. */
    secrets: string
    author_type: string
    author_id: string
    author_name: string
    created_at: number
  }
  jobs: {
    org: number
    id: number
    version: number
    name: string
    state: JobState
    reason: string | null
    /** JSON, without passwords. */
    action: string
    /** JSON of the sealed passwords of the action. */
    secrets: Generated<string>
    target: string
    /** JSON: stages, soakMinutes, failures, onFailure, respect, pace, skipConflicts, includeNew. All are set. */
    settings: string
    actor_type: 'KEY' | 'USER' | 'CLI'
    actor_id: string
    actor_name: string
    user_id: number | null
    key_id: number | null
    attempt: Generated<number>
    /** The present stage from 1; 0 before the start. */
    stage: Generated<number>
    /** JSON list: when each stage started. */
    stage_times: Generated<string>
    stage_count: number
    unit_count: number
    endpoint_count: number
    /** How many units had begun, and how many of them had failed, when a person last resumed or retried the job. */
    begun_before: Generated<number>
    failed_before: Generated<number>
    rolls_back_now: Generated<number>
    /** Rises with each step of its units, which is no new version of the job. */
    progress: Generated<number>
    created_at: number
    updated_at: number
    start_at: number | null
    started_at: number | null
    ended_at: number | null
    deadline: number | null
    /** The recurring job of which it is a run. */
    recurring_job: number | null
  }
  recurring_jobs: {
    org: number
    id: number
    version: number
    name: string
    state: 'ACTIVE' | 'PAUSED'
    /** Why it is paused. */
    reason: string | null
    /** JSON, as in `jobs`. It has no passwords. */
    action: string
    target: string
    settings: string
    /** JSON: days and at. */
    schedule: string
    within_hours: number
    /** Whether targeted endpoints are in no location. */
    unplaced: number
    actor_type: 'KEY' | 'USER' | 'CLI'
    actor_id: string
    actor_name: string
    user_id: number | null
    key_id: number | null
    created_at: number
    /** Runs up to this time have begun or were skipped. */
    handled_until: number
  }
  /** The locations of the targeted rooms, as the actor saw them last. */
  recurring_job_locations: {
    org: number
    recurring_job: number
    location_id: number
  }
  recurring_job_runs: {
    org: number
    recurring_job: number
    at: number
    timezone: string
    /** Null if the run was skipped. */
    job_id: number | null
    /** Why it was skipped. */
    reason: string | null
  }
  /** A unit is a room, or the rooms that pair groups span. */
  job_units: {
    org: number
    job_id: number
    number: number
    stage: number
    state: UnitState
    reason: string | null
    /** Why it failed in its present attempt; a rollback keeps it. */
    failure: Generated<string | null>
    name: string
    location_id: number | null
    endpoint_count: number
    attempt: Generated<number>
    began_at: number | null
    sent_at: number | null
    soak_until: number | null
    /** When a resume let the soak begin again; null if none did. */
    watched_since: number | null
    ended_at: number | null
  }
  job_unit_rooms: {
    org: number
    job_id: number
    unit: number
    room_id: number
    /** Whether the job has changed the profile of the room, and which it had before. */
    profile_changed: Generated<number>
    profile_before: number | null
  }
  job_endpoints: {
    org: number
    job_id: number
    endpoint_id: string
    unit: number
    name: string
    state: JobEndpointState
    error: string | null
    version_before: number | null
    version_after: number | null
    profile_before: number | null
    profile_changed: Generated<number>
    operation_id: string | null
  }
  /** An endpoint that a MOVE job has moved, including members of pair groups that the job does not target. */
  job_moves: {
    org: number
    job_id: number
    unit: number
    endpoint_id: string
    room_before: number | null
    room_after: number
  }
}
