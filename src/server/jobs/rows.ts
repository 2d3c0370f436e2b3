// The rows of jobs, of their units and of their endpoints, and the JSON in them.

import type { Selectable } from 'kysely'
import type { Static } from 'typebox'
import type { JobAction } from '../../contract/jobs/action-table.ts'
import type { JobTarget, onFailureSteps } from '../../contract/jobs/job-request.ts'
import { finalJobStates, type JobState } from '../../contract/jobs/job-states.ts'
import type { DatabaseSchema } from '../db/schema/schema.ts'

export type JobRow = Omit<Selectable<DatabaseSchema['jobs']>, 'org'>
export type JobUnitRow = Omit<Selectable<DatabaseSchema['job_units']>, 'org'>
export type JobUnitRoomRow = Omit<Selectable<DatabaseSchema['job_unit_rooms']>, 'org'>
export type JobEndpointRow = Omit<Selectable<DatabaseSchema['job_endpoints']>, 'org'>

export type Target = Static<typeof JobTarget>
export type Action = Static<typeof JobAction>

/** One of `rooms`, `percent` and `tags` is set. */
export interface StageSettings {
  readonly rooms?: number
  readonly percent?: number
  readonly tags?: string[]
  readonly manual: boolean
}

/** The rollout options of a job, with all defaults filled in. */
export interface JobSettings {
  readonly stages: readonly StageSettings[]
  readonly soakMinutes: number
  readonly failures: { readonly percent: number; readonly atLeast: number }
  readonly onFailure: (typeof onFailureSteps)[number]
  readonly respect: { readonly window: boolean; readonly idle: boolean }
  readonly pace: { readonly atOnce: number; readonly atOncePerLocation: number }
  readonly skipConflicts: boolean
  readonly includeNew: boolean
}

export const settingsOfJob = ({ settings }: Pick<JobRow, 'settings'>): JobSettings => JSON.parse(settings)
export const targetOfJob = ({ target }: Pick<JobRow, 'target'>): Target => JSON.parse(target)
/** The action without passwords. `openAction` of action.ts adds them. */
export const actionOfJob = ({ action }: Pick<JobRow, 'action'>): Action => JSON.parse(action)
export const stageTimesOfJob = ({ stage_times }: Pick<JobRow, 'stage_times'>): readonly number[] =>
  JSON.parse(stage_times)

export const isFinalState = (state: JobState): boolean => (finalJobStates as readonly JobState[]).includes(state)
