// Checks the body of jobsPlan and jobsCreate, and fills in what it leaves out. [contract 12.job]

import { readOnlyKeys } from '../../../contract/device/config-keys.ts'
import { dayMs } from '../../../contract/durations.ts'
import type { Violation } from '../../../contract/error.ts'
import { actionTypesWith, jobActions, waitsForIdleByDefault } from '../../../contract/jobs/action-table.ts'
import { defaultDeadlineDays } from '../../../contract/jobs/job-request.ts'
import { parseTime } from '../../../contract/time.ts'
import type { InputOf } from '../../context/handlers.ts'
import { Failure, invalid } from '../../core/failure.ts'
import type { Action, JobSettings, StageSettings, Target } from '../rows.ts'
import { stageViolations } from './stages.ts'

export type JobBody = InputOf<'jobsPlan'>['body']

export interface CheckedRequest {
  readonly name: string
  readonly target: Target
  readonly action: Action
  readonly settings: JobSettings
  readonly startAt: number | null
  /** Null means `defaultDeadlineMs` after the start. */
  readonly deadline: number | null
}

/** The deadline of a job that names none, after its start. */
export const defaultDeadlineMs = defaultDeadlineDays * dayMs

export function checkRequest(body: JobBody, now: number): CheckedRequest {
  const startAt = body.startAt ? (parseTime(body.startAt) ?? null) : null
  const deadline = body.deadline ? (parseTime(body.deadline) ?? null) : null
  const violations = [
    ...targetViolations(body.target),
    ...actionViolations(body.action),
    ...stageViolations(body.stages, body.action.type),
    ...(deadline !== null && deadline <= Math.max(now, startAt ?? now)
      ? [{ field: 'deadline', error: 'must be after the start, and in the future' }]
      : []),
  ]
  if (violations.length > 0) throw invalid(violations)
  const { type } = body.action
  if (body.onFailure === 'rollBack' && !jobActions[type].rollback?.isAutomatic) {
    throw new Failure(
      'FAILED_PRECONDITION',
      `a job of the type ${type} is not rolled back automatically; only ${actionTypesWith(({ rollback }) => rollback?.isAutomatic === true)} jobs are. Use "onFailure": "pause" instead.`,
    )
  }
  return {
    name: body.name,
    target: distinctTarget(body.target),
    action: withoutEmptyId(body.action),
    settings: settingsOf(body),
    startAt,
    deadline,
  }
}

function targetViolations({ all, exclude, ...include }: Target): Violation[] {
  const isEmpty = (keys: object) => Object.values(keys).every((values) => values === undefined)
  const nothing = 'must have at least one key, such as roomIds; "all": true means every endpoint'
  const both = 'means every endpoint. Leave it out, or the other keys'
  return [
    ...(isEmpty(include) && !all ? [{ field: 'target', error: nothing }] : []),
    ...(!isEmpty(include) && all ? [{ field: 'target.all', error: both }] : []),
    ...(exclude && isEmpty(exclude)
      ? [{ field: 'target.exclude', error: 'must have at least one key. Leave it out to exclude nothing' }]
      : []),
  ]
}

function distinctTarget({ all, exclude, ...include }: Target): Target {
  const distinct = <K extends object>(keys: K): K =>
    Object.fromEntries(
      Object.entries(keys).flatMap(([key, values]) => (values === undefined ? [] : [[key, [...new Set(values)]]])),
    ) as K
  return { ...(all && { all }), ...distinct(include), ...(exclude && { exclude: distinct(exclude) }) }
}

function actionViolations(action: Action): Violation[] {
  const { type, ...values } = action
  const { required, optional } = jobActions[type].keys
  const known: readonly string[] = [...required, ...optional]
  const foreign = Object.entries(values).flatMap(([key, value]) =>
    value === undefined || known.includes(key) ? [] : [key],
  )
  const readOnly = Object.keys(action.config ?? {}).filter((name) => Object.hasOwn(readOnlyKeys, name))
  return [
    ...foreign.map((key) => ({ field: `action.${key}`, error: `does not belong to the type ${type}. Leave it out` })),
    ...required
      .filter((key) => action[key] === undefined)
      .map((key) => ({ field: `action.${key}`, error: `is needed by the type ${type}` })),
    ...(action.config && Object.keys(action.config).length === 0
      ? [{ field: 'action.config', error: 'must have at least one key' }]
      : []),
    ...readOnly.map((name) => ({ field: `action.config.${name}`, error: 'is read-only: leave it out' })),
  ]
}

/** 0 and null both mean no profile, as in endpointsAssignProfile. */
const withoutEmptyId = (action: Action): Action =>
  action.profileId === undefined ? action : { ...action, profileId: action.profileId || null }

function settingsOf(body: JobBody): JobSettings {
  const { type } = body.action
  const isStaged = body.stages !== undefined
  const respect = {
    window: body.respect?.window ?? isStaged,
    idle: body.respect?.idle ?? waitsForIdleByDefault(body.action, isStaged),
  }
  return {
    stages: body.stages?.map(stageSettingsOf) ?? [{ percent: 100, manual: false }],
    soakMinutes: body.soakMinutes ?? (isStaged ? 30 : 0),
    failures: { percent: body.failures?.percent ?? 5, atLeast: body.failures?.atLeast ?? 1 },
    onFailure: body.onFailure ?? (jobActions[type].rollback?.isAutomatic ? 'rollBack' : 'pause'),
    respect,
    pace: { atOnce: body.pace?.atOnce ?? 50, atOncePerLocation: body.pace?.atOncePerLocation ?? 5 },
    skipConflicts: body.skipConflicts ?? false,
    includeNew: body.includeNew ?? false,
  }
}

const stageSettingsOf = ({ rooms, percent, tags, manual }: NonNullable<JobBody['stages']>[number]): StageSettings => ({
  ...(rooms !== undefined && { rooms }),
  ...(percent !== undefined && { percent }),
  ...(tags !== undefined && { tags }),
  manual: manual ?? false,
})
