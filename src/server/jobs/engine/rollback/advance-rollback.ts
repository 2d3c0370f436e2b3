// Rolls back the units of a job, the last one first, a bounded number in each step. [contract 12.rollback]

import { minuteMs, secondMs } from '../../../../contract/durations.ts'
import type { ReversibleActionType } from '../../../../contract/jobs/action-table.ts'
import { openUnitStates } from '../../../../contract/jobs/job-states.ts'
import type { Org } from '../../../auth/token-holder.ts'
import { type Actor, type RequestContext, unrestrictedContext } from '../../../context/request-context.ts'
import type { Services } from '../../../context/services.ts'
import { isRoomInChangeWindow } from '../../../core/time/change-window.ts'
import type { OrgReader } from '../../../db/handles.ts'
import { readRoomUse, type UseTimes } from '../../../fleet/rooms/use/room-use.ts'
import { endUnits } from '../../units/change-units.ts'
import { effects } from '../effects/effect-table.ts'
import { raiseJobProgress } from '../progress-store.ts'
import { type RollbackOutcome, rollBackRoom } from './roll-back-endpoint.ts'
import type { RollbackQueue } from './rollback-queue.ts'
import {
  listTouchedUnits,
  listUnconfirmedUnits,
  listUnitEndpoints,
  listUnitRoomWindows,
  type TouchedUnit,
  type UnitRoomWindow,
  updateUnitRolledBack,
  updateUnitsWaiting,
} from './rollback-store.ts'

/** A job in the state ROLLING_BACK. */
export interface RollingBackJob {
  readonly id: number
  readonly unitCount: number
  readonly action: { readonly type: ReversibleActionType; readonly profileId?: number | null | undefined }
  readonly respect: { readonly window: boolean; readonly idle: boolean }
  readonly pace: { readonly atOnce: number; readonly atOncePerLocation: number }
  /** Whether windows, idle rooms and pace are ignored. */
  readonly isNow: boolean
  /** The caller who asked for the rollback, or the actor of the job if it is automatic. */
  readonly actor: Actor
}

const unitsPerStep = 50
/** A unit that must wait is checked again after this time. */
const recheckMs = 10 * secondMs
/** A device that has not confirmed its config for this long does not hold up others. */
const confirmMs = 30 * minuteMs

/** Returns true when nothing is left to roll back: the job is then ROLLED_BACK. */
export async function advanceRollback(
  services: Services,
  org: Org,
  job: RollingBackJob,
  idleMs: number,
  queue: RollbackQueue,
): Promise<boolean> {
  // The right to roll back was checked when it was asked for. Without the rest, rooms would be left half changed.
  const ctx = unrestrictedContext(services, org, job.actor)
  const now = ctx.clock.now()
  await queue.fill(ctx.db, job, now - confirmMs)
  const numbers = queue.next(now, job.isNow, unitsPerStep)
  const units = numbers.length === 0 ? [] : await listTouchedUnits(ctx.db, { job: job.id, units: numbers })
  const windows = units.length === 0 ? new Map() : await readRoomWindows(ctx.db, job.id, units)
  const waits =
    job.isNow || units.length === 0
      ? new Map<number, string>()
      : await findWaits(ctx.db, job, units, windows, { now, idleMs, presence: ctx.presenceTimes }, queue)
  const isChanged = await noteWaits(ctx, job.id, units, waits)
  for (const unit of units) {
    if (!waits.has(unit.number)) await rollBackUnit(ctx, job, unit, windows.get(unit.number) ?? [])
  }
  const ended = new Set(numbers.filter((number) => !waits.has(number)))
  queue.update(ended, new Set(waits.keys()), now + recheckMs)
  if (isChanged || ended.size > 0) await ctx.db.telemetry((tx) => raiseJobProgress(tx, { job: job.id, now }))
  // The tables have the last word: the queue may have been filled before units were touched.
  if (!queue.isEmpty || (await queue.fill(ctx.db, job, now - confirmMs))) return false
  const end = { states: openUnitStates, state: 'CANCELLED', reason: null, now } as const
  await ctx.db.bulkTransaction((tx) => endUnits(tx, { id: job.id, unit_count: job.unitCount }, end))
  return true
}

/** Writes what units wait for, if they say something else. Returns whether that was so. */
async function noteWaits(
  ctx: RequestContext,
  job: number,
  units: readonly TouchedUnit[],
  waits: ReadonlyMap<number, string>,
): Promise<boolean> {
  const changed = units.filter(({ number, reason, state }) => {
    const wait = waits.get(number)
    return wait !== undefined && wait !== reason && state !== 'FAILED'
  })
  if (changed.length === 0) return false
  await ctx.db.telemetry(async (tx) => {
    for (const [reason = '', waiting] of Map.groupBy(changed, ({ number }) => waits.get(number))) {
      await updateUnitsWaiting(tx, { job, units: waiting.map(({ number }) => number), reason })
    }
  })
  return true
}

async function readRoomWindows(on: OrgReader, job: number, units: readonly TouchedUnit[]) {
  const rows = await listUnitRoomWindows(on, { job, units: units.map(({ number }) => number) })
  return Map.groupBy(rows, ({ unit }) => unit)
}

/** Returns what each unit that may not be changed now waits for. */
async function findWaits(
  on: OrgReader,
  { id, respect, pace }: RollingBackJob,
  units: readonly TouchedUnit[],
  windows: ReadonlyMap<number, readonly UnitRoomWindow[]>,
  times: UseTimes,
  queue: RollbackQueue,
): Promise<Map<number, string>> {
  const { now } = times
  const waits = new Map<number, string>()
  const roomIds = [...windows.values()].flat().map(({ room_id }) => room_id)
  const use = respect.idle ? await readRoomUse(on, { ...times, roomIds }) : undefined
  const unconfirmed = { job: id, units: queue.unconfirmed, since: now - confirmMs }
  const inRollback = queue.unconfirmed.length === 0 ? [] : await listUnconfirmedUnits(on, unconfirmed)
  queue.keepUnconfirmed(inRollback.map(({ number }) => number))
  const atLocation = new Map<number | null, number>()
  for (const { location_id } of inRollback) atLocation.set(location_id, (atLocation.get(location_id) ?? 0) + 1)
  let free = pace.atOnce - inRollback.length
  for (const { number, location_id } of units) {
    const rooms = windows.get(number) ?? []
    const count = atLocation.get(location_id) ?? 0
    const isFull = location_id !== null && count >= pace.atOncePerLocation
    if (respect.window && !rooms.every((room) => isRoomInChangeWindow(room, now))) waits.set(number, waitTexts.window)
    else if (rooms.some((room) => use?.get(room.room_id)?.isIdle === false)) waits.set(number, waitTexts.idle)
    else if (free <= 0 || isFull) waits.set(number, waitTexts.pace)
    else {
      free--
      atLocation.set(location_id, count + 1)
    }
  }
  return waits
}

const waitTexts = {
  window: 'The rollback waits for the change window of the location.',
  idle: 'The rollback waits until the room is empty.',
  pace: 'The rollback waits for other rooms of this job.',
} as const

async function rollBackUnit(
  ctx: RequestContext,
  { id: job, action }: RollingBackJob,
  { number: unit, state, reason }: TouchedUnit,
  rooms: readonly UnitRoomWindow[],
): Promise<void> {
  for (const room of rooms) {
    if (room.profile_changed === 1) await rollBackRoom(ctx, job, action.profileId ?? null, room)
  }
  const endpoints = await listUnitEndpoints(ctx.db, { job, unit })
  const touchedIds = endpoints.flatMap(({ endpoint_id, touched }) => (touched ? [endpoint_id] : []))
  const rolledBack = await effects[action.type].rollBack(ctx, { job, unit }, touchedIds)
  const outcomes: RollbackOutcome[] = []
  for (const { endpoint_id, touched, state, error } of endpoints) {
    const outcome = touched ? rolledBack.get(endpoint_id) : undefined
    if (outcome) outcomes.push(outcome)
    // A step that ended in the middle of a unit has left these.
    else if (state === 'ROLLED_BACK' || state === 'KEPT') outcomes.push({ state, error })
  }
  const isRolledBack = outcomes.some((outcome) => outcome.state === 'ROLLED_BACK')
  const kept = [...new Set(outcomes.flatMap(({ error }) => error ?? []))].join('; ')
  await ctx.db.telemetry((tx) =>
    updateUnitRolledBack(tx, {
      job,
      unit,
      state: isRolledBack ? 'ROLLED_BACK' : 'KEPT',
      reason: kept || (state === 'FAILED' ? reason : null),
      at: ctx.clock.now(),
    }),
  )
}
