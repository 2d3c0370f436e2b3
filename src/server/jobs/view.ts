// A job and its units as answers show them. [contract 12.rights]

import { hash } from 'node:crypto'
import type { Static } from 'typebox'
import { dayMs } from '../../contract/durations.ts'
import { isReversible, jobActions } from '../../contract/jobs/action-table.ts'
import { statesForStep, type UnitState, unitStates } from '../../contract/jobs/job-states.ts'
import type { Job, JobWithStages } from '../../contract/jobs/jobs.ts'
import type { ResponseOf } from '../../contract/operation.ts'
import type { Operations } from '../../contract/operations.ts'
import { VersionedAnswer } from '../context/answers.ts'
import { isoTime } from '../core/clock.ts'
import { shownAction } from './action.ts'
import {
  actionOfJob,
  type JobEndpointRow,
  type JobRow,
  type JobUnitRoomRow,
  type JobUnitRow,
  settingsOfJob,
  stageTimesOfJob,
  type Target,
} from './rows.ts'
import type { UnitCount } from './units/unit-count-store.ts'

type JobView = Static<typeof Job>
type WholeView = Static<typeof JobWithStages>
type UnitView = ResponseOf<Operations['jobsRoomsList']>['rooms'][number]

/** A rollback can be asked for until this long after the end. [contract 12.states] */
export const rollbackDays = 30

export const isTooLateToRollBack = ({ ended_at }: Pick<JobRow, 'ended_at'>, now: number): boolean =>
  ended_at !== null && now - ended_at > rollbackDays * dayMs

/** `counts` are those of the units that the caller sees. */
export function jobView(row: JobRow, counts: readonly UnitCount[], now: number): JobView {
  const action = shownAction(actionOfJob(row))
  const unitCount = sumOf(counts, 'count')
  // A reason may name places and count units that a caller who sees a part of the job does not see.
  const reason = unitCount === row.unit_count ? row.reason : null
  return {
    id: String(row.id),
    name: row.name,
    state: row.state,
    ...(reason !== null && { reason }),
    action,
    createdAt: isoTime(row.created_at),
    ...(row.started_at !== null && { startedAt: isoTime(row.started_at) }),
    ...(row.ended_at !== null && { endedAt: isoTime(row.ended_at) }),
    startedBy: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    attempt: row.attempt,
    stage: row.stage,
    stageCount: row.stage_count,
    unitCount,
    endpointCount: sumOf(counts, 'endpoints'),
    counts: countsByState(counts),
    failedCount: sumOf(counts, 'failed'),
    canRollBack:
      row.started_at !== null &&
      isReversible(action.type) &&
      // The room of a move is left out for callers who do not see it.
      jobActions[action.type].keys.required.every((key) => action[key] !== undefined) &&
      statesForStep.rollBack.includes(row.state) &&
      !isTooLateToRollBack(row, now),
    ...(row.recurring_job !== null && { recurringJobId: String(row.recurring_job) }),
    ...(row.state === 'ROLLING_BACK' && row.rolls_back_now === 1 && { rollsBackNow: true as const }),
  }
}

/** `target` has only what the caller sees (`visibleTarget`). */
function wholeJobView(row: JobRow, target: Target, counts: readonly UnitCount[], now: number): WholeView {
  const settings = settingsOfJob(row)
  const times = stageTimesOfJob(row)
  const waiting = Map.groupBy(
    counts.filter(({ state }) => state === 'WAITING'),
    ({ reason }) => reason ?? '',
  )
  return {
    ...jobView(row, counts, now),
    target,
    stages: [...settings.stages],
    soakMinutes: settings.soakMinutes,
    failures: settings.failures,
    onFailure: settings.onFailure,
    respect: settings.respect,
    pace: settings.pace,
    skipConflicts: settings.skipConflicts,
    includeNew: settings.includeNew,
    startAt: row.start_at === null ? null : isoTime(row.start_at),
    ...(row.deadline !== null && { deadline: isoTime(row.deadline) }),
    stageCounts: settings.stages.map((_, i) => {
      const inStage = counts.filter(({ stage }) => stage === i + 1)
      const startedAt = times[i]
      return {
        unitCount: sumOf(inStage, 'count'),
        counts: countsByState(inStage),
        ...(startedAt !== undefined && { startedAt: isoTime(startedAt) }),
      }
    }),
    waiting: Object.fromEntries([...waiting].map(([reason, rows]) => [reason, sumOf(rows, 'count')])),
  }
}

/** Counts change without a new version, so that a hash of them is a part of the ETag. */
export function jobAnswer(row: JobRow, target: Target, counts: readonly UnitCount[], now: number) {
  const view = wholeJobView(row, target, counts, now)
  const changing = JSON.stringify([view.stageCounts, view.endpointCount, view.waiting, view.canRollBack])
  return new VersionedAnswer(row.version, view, hash('sha1', changing, 'base64url'))
}

/** States without units are left out, and the others are in their usual order. */
function countsByState(counts: readonly UnitCount[]): Partial<Record<UnitState, number>> {
  const byState = Map.groupBy(counts, ({ state }) => state)
  return Object.fromEntries(
    unitStates.flatMap((state) => {
      const rows = byState.get(state)
      return rows ? [[state, sumOf(rows, 'count')]] : []
    }),
  )
}

const sumOf = (counts: readonly UnitCount[], column: 'count' | 'endpoints' | 'failed'): number =>
  counts.reduce((sum, row) => sum + row[column], 0)

export const unitView = (
  row: JobUnitRow,
  rooms: readonly Pick<JobUnitRoomRow, 'room_id'>[],
  endpoints: readonly JobEndpointRow[],
): UnitView => ({
  number: row.number,
  roomIds: rooms.map(({ room_id }) => room_id),
  name: row.name,
  stage: row.stage,
  state: row.state,
  ...(row.reason !== null && { reason: row.reason }),
  ...(row.failure !== null && { failure: row.failure }),
  ...(row.began_at !== null && { beganAt: isoTime(row.began_at) }),
  ...(row.soak_until !== null && { soaksUntil: isoTime(row.soak_until) }),
  ...(row.ended_at !== null && { endedAt: isoTime(row.ended_at) }),
  endpoints: endpoints.map((endpoint) => ({
    endpointId: endpoint.endpoint_id,
    name: endpoint.name,
    state: endpoint.state,
    ...(endpoint.version_before !== null && { versionBefore: endpoint.version_before }),
    ...(endpoint.version_after !== null && { versionAfter: endpoint.version_after }),
    ...(endpoint.operation_id !== null && { operationId: endpoint.operation_id }),
    ...(endpoint.error !== null && { error: endpoint.error }),
  })),
})
