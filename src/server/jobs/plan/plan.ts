// Says what a job would do, and does nothing. [contract 12.plan]

import { minuteMs } from '../../../contract/durations.ts'
import { jobActions } from '../../../contract/jobs/action-table.ts'
import { plannedOutcomes } from '../../../contract/jobs/job-plan.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import type { WeeklyHours } from '../../../contract/weekly-hours.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import { isInChangeWindow, nextChangeTime } from '../../core/time/change-window.ts'
import { inParts } from '../../db/queries/in-parts.ts'
import { asleepText } from '../../fleet/commands/new-commands.ts'
import { listPairedEndpoints } from '../../fleet/endpoints/store.ts'
import { type RoomUse, readRoomUse } from '../../fleet/rooms/use/room-use.ts'
import { findOwnOrg } from '../../journal/orgs/store.ts'
import { isSkippedAsleep, waitsForConnection } from '../action.ts'
import { effects } from '../engine/effects/effect-table.ts'
import { conflictOf, conflictText, type PreparedJob, prepareJob, unitName } from '../request/prepare.ts'
import { type CheckedRequest, checkRequest, type JobBody } from '../request/request.ts'
import type { Action } from '../rows.ts'
import { countEmptyRooms, type RoomWithWindow, type TargetedEndpoint } from '../units/target-store.ts'
import type { OrderedUnit } from '../units/units.ts'
import { listPlannedEndpoints } from './plan-store.ts'
import { PresentValues } from './present-values.ts'

type Plan = ResponseOf<Operations['jobsPlan']>
type Unit = OrderedUnit<TargetedEndpoint>

const maxListed = 200

export async function jobsPlan(ctx: RequestContext, body: JobBody): Promise<Plan> {
  const now = ctx.clock.now()
  const request = checkRequest(body, now)
  const prepared = await prepareJob(ctx, request)
  const { units, rooms, conflicts, endpointCount, unableCount } = prepared
  const endpoints = units.flatMap((unit) => unit.endpoints)
  const { unchanged, notSupporting, present, presence } = await compareEndpoints(ctx, request.action, endpoints)
  const use = await readUseOfUnits(ctx, units, now)
  const windows = new ChangeWindows(rooms, (await findOwnOrg(ctx.db))?.timezone ?? 'UTC')
  const facts = { unchanged, presence, use, windows, now, firstStage: firstStageOf(request, units, now) }
  const planned: PlannedUnit[] = []
  for await (const part of inParts(units)) {
    for (const unit of part) planned.push({ unit, ...plannedOutcome(unit, request, prepared, facts) })
  }
  const conflicting = endpoints.filter(({ profile_id }) => profile_id !== null && conflicts.has(profile_id))
  return {
    unitCount: units.length,
    endpointCount,
    unableCount,
    emptyRoomCount: await countEmptyRooms(ctx.db, request.target),
    offlineCount: endpoints.filter(({ connected }) => connected === 0).length,
    blindCount: units.filter((unit) => !unit.roomIds.some((id) => use.get(id)?.canKnow)).length,
    notSupportingCount: notSupporting.size,
    unchangedCount: unchanged.size,
    stages: request.settings.stages.map(({ manual }, i) => ({
      unitCount: units.filter(({ stage }) => stage === i + 1).length,
      manual,
    })),
    outcomes: countOutcomes(planned),
    conflicts: conflicting.slice(0, maxListed).map(({ id, roomId, profile_id }) => ({
      endpointId: id,
      ...(roomId !== null && { roomId }),
      profileId: profile_id ?? 0,
      keys: [...(conflicts.get(profile_id ?? 0) ?? [])],
    })),
    conflictCount: conflicting.length,
    present,
    rooms: planned.slice(0, maxListed).map(({ unit, ...outcome }) => ({
      roomIds: [...unit.roomIds],
      name: unitName(unit, rooms),
      stage: unit.stage,
      endpointCount: unit.endpoints.length,
      offlineCount: unit.endpoints.filter(({ connected }) => connected === 0).length,
      ...outcome,
    })),
    earliestEnd: isoTime(plannedEnd(request, prepared, windows, now)),
  }
}

interface PresentFacts {
  readonly unchanged: ReadonlySet<string>
  /** The states of the endpoints. */
  readonly presence: ReadonlyMap<string, string>
  readonly use: ReadonlyMap<number, RoomUse>
  readonly windows: ChangeWindows
  readonly now: number
  /** The stage that starts now, or 0 if none does. */
  readonly firstStage: number
}

type PlannedOutcome = Pick<Plan['rooms'][number], 'outcome' | 'reason'>

interface PlannedUnit extends PlannedOutcome {
  readonly unit: Unit
}

/** Stages without units end immediately. A job that starts later, or pauses before a stage with units, changes nothing now. */
function firstStageOf({ settings, startAt }: CheckedRequest, units: readonly Unit[], now: number): number {
  // Units are in the order of their stages.
  const first = units[0]?.stage ?? 0
  const isLater = (startAt ?? now) > now || settings.stages.slice(0, first).some(({ manual }) => manual)
  return isLater ? 0 : first
}

function countOutcomes(planned: readonly PlannedUnit[]): Plan['outcomes'] {
  const groups = Map.groupBy(planned, ({ outcome, reason }) => JSON.stringify([outcome, reason]))
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group
      if (!first) return []
      const { unit, ...outcome } = first
      const endpointCount = group.reduce((sum, { unit: { endpoints } }) => sum + endpoints.length, 0)
      return { ...outcome, unitCount: group.length, endpointCount }
    })
    .sort(
      (a, b) => plannedOutcomes.indexOf(a.outcome) - plannedOutcomes.indexOf(b.outcome) || b.unitCount - a.unitCount,
    )
}

function plannedOutcome(
  unit: Unit,
  { action, settings: { respect } }: CheckedRequest,
  { conflicts }: PreparedJob,
  { unchanged, presence, use, windows, now, firstStage }: PresentFacts,
): PlannedOutcome {
  const conflict = conflictOf(unit, conflicts)
  if (conflict) return { outcome: 'skipped', reason: conflictText(conflict) }
  const endpoints = unit.endpoints.map((endpoint) => ({ ...endpoint, presence: presence.get(endpoint.id) ?? null }))
  if (endpoints.every((endpoint) => isSkippedAsleep(action.type, endpoint))) {
    return { outcome: 'skipped', reason: asleepText }
  }
  if (unit.stage !== firstStage) return { outcome: 'later' }
  if (waitsForConnection(action.type, endpoints)) return { outcome: 'waits', reason: 'connection' }
  if (respect.window && !unit.roomIds.every((id) => windows.isOpen(id, now))) {
    return { outcome: 'waits', reason: 'window' }
  }
  if (respect.idle && !unit.roomIds.every((id) => use.get(id)?.isIdle ?? true)) {
    return { outcome: 'waits', reason: 'idle' }
  }
  // Endpoints that have everything already wait like others, so that this comes last.
  return { outcome: unit.endpoints.every(({ id }) => unchanged.has(id)) ? 'unchanged' : 'now' }
}

async function compareEndpoints(ctx: RequestContext, action: Action, endpoints: readonly TargetedEndpoint[]) {
  const values = new PresentValues(action.config ?? {})
  const { concernsPairs, isDeferred } = jobActions[action.type]
  const { isAlreadyDone } = effects[action.type]
  const unchanged = new Set<string>()
  const notSupporting = new Set<string>()
  const presence = new Map<string, string>()
  for await (const part of inParts(endpoints)) {
    const targeted = part.map(({ id }) => id)
    // Everything that is paired with the endpoints restarts with them.
    const ids =
      concernsPairs && isDeferred
        ? (await listPairedEndpoints(ctx.db, { ids: targeted })).map(({ id }) => id)
        : targeted
    for (const row of await listPlannedEndpoints(ctx.db, { ...ctx.presenceTimes, ids })) {
      presence.set(row.id, row.presence)
      const supports: string[] = row.supports === null ? [] : JSON.parse(row.supports)
      if (!supports.includes('onlyIfIdle')) notSupporting.add(row.id)
      if (action.config && values.add(row)) unchanged.add(row.id)
    }
    for (const endpoint of part) if (isAlreadyDone(action, endpoint)) unchanged.add(endpoint.id)
  }
  return { unchanged, notSupporting, presence, present: values.answer() }
}

async function readUseOfUnits(ctx: RequestContext, units: readonly Unit[], now: number): Promise<Map<number, RoomUse>> {
  const use = new Map<number, RoomUse>()
  const times = { now, idleMs: ctx.settings.idleMs, presence: ctx.presenceTimes }
  for await (const roomIds of inParts(units.flatMap((unit) => unit.roomIds))) {
    for (const [id, one] of await readRoomUse(ctx.db, { ...times, roomIds })) use.set(id, one)
  }
  return use
}

/** The change windows of the rooms of a job. Rooms of one location share a window. */
class ChangeWindows {
  readonly #rooms: ReadonlyMap<number, RoomWithWindow>
  readonly #zoneOfOrg: string
  readonly #hours = new Map<string, WeeklyHours>()

  constructor(rooms: ReadonlyMap<number, RoomWithWindow>, zoneOfOrg: string) {
    this.#rooms = rooms
    this.#zoneOfOrg = zoneOfOrg
  }

  isOpen(roomId: number, at: number): boolean {
    const { hours, zone } = this.#of(roomId)
    return isInChangeWindow(hours, zone, at)
  }

  nextTime(roomId: number, from: number): number {
    const { hours, zone } = this.#of(roomId)
    return nextChangeTime(hours, zone, from)
  }

  /** One room of each location stands for all of them. */
  roomsWithDistinctWindows(units: readonly Unit[]): number[] {
    const byLocation = new Map<number | null, number>()
    for (const { roomIds } of units) {
      for (const id of roomIds) byLocation.set(this.#rooms.get(id)?.location_id ?? null, id)
    }
    return [...byLocation.values()]
  }

  #of(roomId: number): { hours: WeeklyHours | null; zone: string } {
    const room = this.#rooms.get(roomId)
    const text = room?.change_window ?? null
    const zone = room?.timezone ?? this.#zoneOfOrg
    if (text === null) return { hours: null, zone }
    const hours: WeeklyHours = this.#hours.get(text) ?? JSON.parse(text)
    this.#hours.set(text, hours)
    return { hours, zone }
  }
}

/**
 * The earliest time at which the job could end, if nothing waits for people, devices or rooms in use. Each stage begins when the one before
 * it has ended its soak, and ends with the place whose window begins last.
 */
function plannedEnd(
  { settings, startAt }: CheckedRequest,
  { units }: PreparedJob,
  windows: ChangeWindows,
  now: number,
): number {
  const byStage = Map.groupBy(units, ({ stage }) => stage)
  let end = Math.max(now, startAt ?? now)
  for (const [i] of settings.stages.entries()) {
    const inStage = byStage.get(i + 1)
    if (!inStage) continue
    const begin = end
    // Units that may be changed at any time begin immediately.
    const rooms = settings.respect.window ? windows.roomsWithDistinctWindows(inStage) : []
    end = Math.max(begin, ...rooms.map((id) => windows.nextTime(id, begin))) + settings.soakMinutes * minuteMs
  }
  return end
}
