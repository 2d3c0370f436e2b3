// Reads what the engine needs to decide on a job, in a few statements and for a limited number of units.
import { settingName } from '../../../contract/device/setting-names.ts'
import { jobActions } from '../../../contract/jobs/action-table.ts'
import { isRoomInChangeWindow } from '../../core/time/change-window.ts'
import type { OrgReader } from '../../db/handles.ts'
import { type Rejected, rejectionReasons } from '../../fleet/configs/rejected.ts'
import { readRoomUse, type UseTimes } from '../../fleet/rooms/use/room-use.ts'
import type { PresenceTimes } from '../../nodes/presence-sql.ts'
import { waitsForConnection } from '../action.ts'
import { actionOfJob, type JobRow, settingsOfJob, stageTimesOfJob } from '../rows.ts'
import { listRoomsWithWindows } from '../units/target-store.ts'
import type { UnitCount } from '../units/unit-count-store.ts'
import { listRoomsOfUnits } from '../units/unit-store.ts'
import type { ActiveUnit, Candidate, EffectOutcome, JobFacts } from './facts.ts'
import {
  type EngineEndpointRow,
  type EngineUnitRow,
  listEndpointsOfOtherJobs,
  listEngineEndpoints,
  listRunningUnits,
  listSoakingUnits,
  listWaitingUnits,
  type OtherJobEndpoint,
} from './facts-store.ts'
import type { Health } from './health/judge-health.ts'
import { readHealth } from './health/read-health.ts'
import { blocksEndpoint } from './turns.ts'

/** Limits the units that could begin and are read in a run. */
const maxUnitsPerRun = 200

/** Limits the units that soak and are read in a run. */
const maxSoakingPerRun = 1000

/** The numbers of the units after which the next run goes on, among those that could begin and those that soak. */
export interface Cursor {
  after: number
  afterSoaking: number
}

export interface RunInput extends UseTimes {
  readonly on: OrgReader
  /** The time zone of locations that have none of their own. */
  readonly orgTimezone: string
  /** The times that decide the states of endpoints. */
  readonly presence: PresenceTimes
  /** All active jobs. */
  readonly jobs: readonly JobRow[]
}

export interface ReadFacts extends JobFacts {
  readonly endpoints: ReadonlyMap<number, readonly EngineEndpointRow[]>
}

export async function readFacts(
  input: RunInput,
  row: JobRow,
  counts: readonly UnitCount[],
  cursor: Cursor,
): Promise<ReadFacts> {
  const { on, now } = input
  const job = engineJobOf(row)
  const has = (...states: string[]) => counts.some(({ state }) => states.includes(state))
  const running = has('RUNNING') ? await listRunningUnits(on, { job: row.id }) : []
  const { soaking, health } = has('SOAKING') ? await readSoaking(input, row, cursor) : nothingSoaks
  const begun = [...running, ...soaking]
  const endpoints = await readEndpoints(input, row, begun)
  const active = begun.map((unit) => activeUnit(row, unit, endpoints.get(unit.number) ?? [], health))
  const { atOnce, atOncePerLocation } = job.settings.pace
  const unfinished = active.filter(isUnfinished)
  const byLocation = Map.groupBy(unfinished, ({ locationId }) => locationId)
  const full = [...byLocation].flatMap(([id, units]) => (id !== null && units.length >= atOncePerLocation ? id : []))
  const mayBegin = row.state === 'RUNNING' && has('PENDING', 'WAITING') && unfinished.length < atOnce
  const waiting = mayBegin ? await readWaiting(on, row, full, cursor) : []
  for (const [unit, rows] of await readEndpoints(input, row, waiting)) endpoints.set(unit, rows)
  return {
    now,
    job,
    counts: counts.map(({ stage, state, reason, count }) => ({ stage, state, reason, count })),
    begun: counts.reduce((sum, { begun }) => sum + begun, 0),
    active,
    candidates: await readCandidates(input, row, waiting, endpoints),
    endpoints,
  }
}

async function readEndpoints({ on, presence }: RunInput, { id }: JobRow, units: readonly EngineUnitRow[]) {
  if (units.length === 0) return new Map<number, EngineEndpointRow[]>()
  const rows = await listEngineEndpoints(on, { ...presence, job: id, units: units.map(({ number }) => number) })
  return Map.groupBy(rows, ({ unit }) => unit)
}

/** A unit of which an answer is missing keeps its place in the pace. */
const isUnfinished = ({ state, endpoints }: ActiveUnit): boolean =>
  state === 'RUNNING' &&
  endpoints.some((e) => e.state === 'PENDING' || (e.state === 'SENT' && e.outcome.state === 'OPEN'))

const engineJobOf = (row: JobRow): JobFacts['job'] => ({
  state: row.state,
  settings: settingsOfJob(row),
  stage: row.stage,
  stageCount: row.stage_count,
  startedStages: stageTimesOfJob(row).length,
  startAt: row.start_at,
  deadline: row.deadline,
  begunBefore: row.begun_before,
  failedBefore: row.failed_before,
})

const nothingSoaks: { soaking: EngineUnitRow[]; health: ReadonlyMap<number, Health> } = {
  soaking: [],
  health: new Map(),
}

/** Units that are healthy and still soak need no step. */
async function readSoaking({ on, now, presence }: RunInput, row: JobRow, cursor: Cursor): Promise<typeof nothingSoaks> {
  const after = cursor.afterSoaking
  const rows = await listSoakingUnits(on, { job: row.id, after, limit: maxSoakingPerRun })
  cursor.afterSoaking = rows.length < maxSoakingPerRun ? 0 : (rows.at(-1)?.number ?? 0)
  if (rows.length === 0) return nothingSoaks
  const units = rows.map(({ number }) => number)
  const firstBeganAt = Math.min(...rows.map((unit) => unit.watched_since ?? unit.began_at ?? now))
  // After the deadline nothing is waited for, so that a paused job ends too.
  const isPaused = row.state !== 'RUNNING' && (row.deadline === null || row.deadline > now)
  const { type: actionType } = actionOfJob(row)
  const health = await readHealth(on, { id: row.id, actionType, firstBeganAt, units, isPaused }, presence)
  const isDue = ({ number, soak_until }: EngineUnitRow) => (soak_until ?? now) <= now || health.has(number)
  return { soaking: rows.filter(isDue), health }
}

async function readWaiting(on: OrgReader, { id, stage }: JobRow, notIn: readonly number[], cursor: Cursor) {
  const page = { job: id, stage: Math.max(stage, 1), limit: maxUnitsPerRun, notIn }
  const units = await listWaitingUnits(on, { ...page, after: cursor.after })
  cursor.after = units.length < maxUnitsPerRun ? 0 : (units.at(-1)?.number ?? 0)
  return units
}

const activeUnit = (
  row: JobRow,
  unit: EngineUnitRow,
  endpoints: readonly EngineEndpointRow[],
  health: ReadonlyMap<number, Health>,
): ActiveUnit => ({
  number: unit.number,
  stage: unit.stage,
  state: unit.state as ActiveUnit['state'],
  locationId: unit.location_id,
  sentAt: unit.sent_at,
  soakUntil: unit.soak_until,
  endpoints: endpoints.map((endpoint) => ({
    id: endpoint.endpoint_id,
    state: endpoint.state,
    error: endpoint.error,
    isRemoved: endpoint.serial === null,
    outcome: effectOutcome(row, endpoint),
  })),
  health: health.get(unit.number) ?? { state: 'healthy' },
})

function effectOutcome(job: JobRow, endpoint: EngineEndpointRow): EffectOutcome {
  if (endpoint.state !== 'SENT') return { state: 'OPEN' }
  const { type } = actionOfJob(job)
  const { effect, connection } = jobActions[type]
  switch (effect) {
    case 'config':
      return configOutcome(job, endpoint)
    case 'record':
      return { state: 'DONE' }
    case 'command':
      // A unit that needs all of its devices waits again for one that never got its command.
      if (connection === 'all' && wasNeverSent(endpoint)) return { state: 'UNSENT', waitsFor: 'connection' }
      return commandOutcome(endpoint)
  }
}

/** A config is done when the newest version is: a version that a person made later contains what the job set, or takes it back. */
function configOutcome(
  job: JobRow,
  { version_after, config_state, config_rejected }: EngineEndpointRow,
): EffectOutcome {
  if (version_after === null || config_state === 'DELIVERED') return { state: 'DONE' }
  if (config_state !== 'FAILED') return { state: 'OPEN' }
  const reasons = Object.entries(rejectionReasons(JSON.parse(config_rejected ?? '{}') as Rejected))
  // A job is not to blame for keys of others that the device rejected before.
  const own = reasons.filter(([key]) => setsKey(job, key))
  if (reasons.length > 0 && own.length === 0) return { state: 'DONE' }
  const text = own.map(([key, reason]) => `${settingName(key)}: ${reason}`).join('; ')
  return { state: 'FAILED', error: text || 'The device has rejected the config.' }
}

/** A profile can set every key. */
function setsKey(job: JobRow, key: string): boolean {
  const { config } = actionOfJob(job)
  return config === undefined || Object.hasOwn(config, key)
}

function commandOutcome(endpoint: EngineEndpointRow): EffectOutcome {
  const waits = endpoint.waits_for === null ? {} : { waitsFor: endpoint.waits_for }
  switch (endpoint.operation_state) {
    case 'SUCCEEDED':
      return { state: 'DONE' }
    case 'EXPIRED':
      // A reboot that was never sent says what it waited for. The change is not to blame.
      return endpoint.waits_for === null
        ? { state: 'FAILED', error: 'The device did not answer before the deadline of the command.' }
        : { state: 'UNSENT', ...waits }
    case 'QUEUED':
    case 'SENT':
    case 'ACKNOWLEDGED':
      return { state: 'OPEN', ...waits }
    default:
      return { state: 'FAILED', error: endpoint.operation_error ?? `The command ended as ${endpoint.operation_state}.` }
  }
}

/** The device was offline when its pair restarted, or until the deadline of a reboot that did not wait. */
const wasNeverSent = ({ operation_state, reboot_time, sent_connection }: EngineEndpointRow): boolean =>
  operation_state === 'SKIPPED' || (operation_state === 'EXPIRED' && reboot_time === null && sent_connection === null)

async function readCandidates(
  input: RunInput,
  row: JobRow,
  units: readonly EngineUnitRow[],
  endpoints: ReadonlyMap<number, readonly EngineEndpointRow[]>,
): Promise<Candidate[]> {
  if (units.length === 0) return []
  const { respect } = settingsOfJob(row)
  const present = (number: number) => (endpoints.get(number) ?? []).filter(({ serial }) => serial !== null)
  const blocks = new Map<number, Candidate['blockedBy']>()
  const free = () => units.filter(({ number }) => !blocks.has(number) && present(number).length > 0)
  const block = (
    isBlocked: (inUnit: readonly EngineEndpointRow[], number: number) => boolean,
    reason: Candidate['blockedBy'],
  ) => {
    for (const { number } of free()) if (isBlocked(present(number), number)) blocks.set(number, reason)
  }
  const { type } = actionOfJob(row)
  block((inUnit) => waitsForConnection(type, inUnit), 'connection')
  const blocked = await listBlockedEndpoints(
    input,
    row,
    free().flatMap(({ number }) => present(number)),
  )
  block((inUnit) => inUnit.some(({ endpoint_id }) => blocked.has(endpoint_id)), 'other job')
  // Rooms of paired endpoints that are not targeted count too, because these restart as well.
  const respects = respect.window || respect.idle
  const unitRooms = Map.groupBy(
    respects ? await listRoomsOfUnits(input.on, { job: row.id, units: free().map(({ number }) => number) }) : [],
    ({ unit }) => unit,
  )
  const roomsOf = (number: number): number[] => [
    ...present(number).flatMap(({ room_id }) => room_id ?? []),
    ...(unitRooms.get(number) ?? []).map(({ room_id }) => room_id),
  ]
  if (respect.window && free().length > 0) {
    const closed = await listClosedRooms(
      input,
      free().flatMap(({ number }) => roomsOf(number)),
    )
    block((_, number) => roomsOf(number).some((room) => closed.has(room)), 'window')
  }
  if (respect.idle && free().length > 0) {
    const roomIds = [...new Set(free().flatMap(({ number }) => roomsOf(number)))]
    const use = await readRoomUse(input.on, { ...input, roomIds })
    block((_, number) => roomsOf(number).some((room) => use.get(room)?.isIdle === false), 'idle')
  }
  return units.map((unit) => ({
    number: unit.number,
    stage: unit.stage,
    state: unit.state as Candidate['state'],
    reason: unit.reason,
    locationId: unit.location_id,
    isEmpty: present(unit.number).length === 0,
    blockedBy: blocks.get(unit.number),
  }))
}

/** Rooms that are outside of the change window of their location. */
async function listClosedRooms({ on, now, orgTimezone }: RunInput, roomIds: readonly number[]): Promise<Set<number>> {
  const rooms = await listRoomsWithWindows(on, { ids: [...new Set(roomIds)] })
  const open = new Map<number | null, boolean>()
  for (const { location_id, change_window, timezone } of rooms) {
    if (open.has(location_id)) continue
    open.set(location_id, isRoomInChangeWindow({ change_window, timezone: timezone ?? orgTimezone }, now))
  }
  return new Set(rooms.filter(({ location_id }) => open.get(location_id) === false).map(({ id }) => id))
}

async function listBlockedEndpoints(
  { on, jobs }: RunInput,
  row: JobRow,
  endpoints: readonly EngineEndpointRow[],
): Promise<Set<string>> {
  const others = new Map(jobs.filter(({ id, state }) => id !== row.id && state !== 'SCHEDULED').map((j) => [j.id, j]))
  if (others.size === 0 || endpoints.length === 0) return new Set()
  const ids = endpoints.map(({ endpoint_id }) => endpoint_id)
  const theirs = await listEndpointsOfOtherJobs(on, { jobs: [...others.keys()], endpoints: ids })
  const isBlocked = (endpoint: OtherJobEndpoint) => {
    const other = others.get(endpoint.job_id)
    return other !== undefined && blocksEndpoint(other, endpoint, row)
  }
  return new Set(theirs.filter(isBlocked).map(({ endpoint_id }) => endpoint_id))
}
