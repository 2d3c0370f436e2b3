// Starts the runs of recurring jobs: each is a job of its own for the rooms of one time zone. [contract 12.recurring]

import { dayMs, hourMs, minuteMs } from '../../../contract/durations.ts'
import type { Org } from '../../auth/token-holder.ts'
import type { RequestContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import type { OrgReader } from '../../db/handles.ts'
import { change } from '../../journal/audit/change.ts'
import { locatedRows } from '../announce.ts'
import { createJob } from '../create.ts'
import { findActorContext } from '../engine/actor.ts'
import { systemContext } from '../engine/apply.ts'
import { isRefusal } from '../engine/send.ts'
import { requireReferences } from '../request/prepare.ts'
import type { CheckedRequest } from '../request/request.ts'
import { actionOfJob, settingsOfJob, type Target, targetOfJob } from '../rows.ts'
import { type DueRun, dueRuns } from './due-runs.ts'
import { countHiddenPlaces, findLocations, listPlaces, writeLocations } from './locations.ts'
import { recurringJobRef } from './rules.ts'
import {
  deleteRunsBefore,
  findOpenRun,
  hasRun,
  insertRun,
  listActiveRecurringJobs,
  lockRecurringJob,
  type RecurringJobRow,
  updateHandledUntil,
  updateRecurringJob,
  updateUnplaced,
} from './store.ts'
import { readZones, scheduleOf } from './view.ts'

/** Rooms may have come to new locations since. */
const locationsAgeMs = 10 * minuteMs
/** As long as the jobs of the runs are kept. */
const runRetentionMs = 400 * dayMs

interface TaskOrg extends Org {
  readonly timezone: string
}

/** The part of a recurring job that the task remembers between two runs. It may be lost. */
interface Memory {
  readonly version: number
  readonly locationsReadAt: number
  /** The zones for which nothing was due at this time or before. */
  readonly zones: readonly string[]
  readonly lookedAt: number
}

interface Input {
  readonly services: Services
  readonly org: TaskOrg
  readonly on: OrgReader
  readonly row: RecurringJobRow
}

export class RecurringJobs {
  readonly #memories = new WeakMap<AbortSignal, Map<number, Memory>>()

  /** Must not run twice at the same time for an organisation. The failure of one recurring job does not keep the others from going on. */
  async run(services: Services, org: TaskOrg, signal: AbortSignal): Promise<void> {
    const on = services.db.forOrg(org.key)
    const rows = await listActiveRecurringJobs(on)
    const memories = this.#memories.get(signal) ?? new Map<number, Memory>()
    this.#memories.set(signal, memories)
    for (const id of memories.keys()) if (!rows.some((row) => row.id === id)) memories.delete(id)
    const failures: unknown[] = []
    for (const row of rows) {
      if (signal.aborted) return
      const known = memories.get(row.id)
      const input = { services, org, on, row }
      try {
        const memory = await runOne(input, known?.version === row.version ? known : undefined)
        if (memory) memories.set(row.id, memory)
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}

/** Returns undefined if the recurring job was paused or changed meanwhile. */
async function runOne(input: Input, memory: Memory | undefined): Promise<Memory | undefined> {
  const { services, on, row } = input
  const now = services.clock.now()
  const isFresh = memory !== undefined && Math.abs(now - memory.locationsReadAt) < locationsAgeMs
  if (!isFresh && !(await refreshLocations(input))) return undefined
  const zones = (await readZones(on, [row])).get(row.id) ?? []
  const isNewZone = memory !== undefined && zones.some((zone) => !memory.zones.includes(zone))
  // A location that has come since has missed no run.
  const handledUntil = isNewZone ? Math.max(row.handled_until, memory.lookedAt) : row.handled_until
  const due = dueRuns(scheduleOf(row), zones, handledUntil, now)
  for (const run of due) if (!(await handleRun(input, run))) return undefined
  if (due.length > 0 || isNewZone) {
    const { id, version } = row
    await services.db.forOrg(input.org.key).telemetry(async (tx) => {
      await updateHandledUntil(tx, { id, version, until: Math.max(now, row.handled_until) })
      await deleteRunsBefore(tx, { id, before: now - runRetentionMs })
    })
  }
  return {
    version: row.version,
    locationsReadAt: isFresh ? memory.locationsReadAt : now,
    zones,
    lookedAt: now,
  }
}

/** Returns whether the recurring job goes on. */
async function refreshLocations(input: Input): Promise<boolean> {
  const { services, org, row } = input
  const actor = await findRunActor(input)
  if (actor === undefined) return false
  const found = await findLocations(actor.db, row)
  const before = (await listPlaces(input.on, row)).flatMap(({ location }) => location ?? [])
  const isSame = found.unplaced === row.unplaced && found.locations.symmetricDifference(new Set(before)).size === 0
  if (isSame) return true
  const { id, version } = row
  await services.db.forOrg(org.key).telemetry(async (tx) => {
    await writeLocations(tx, id, found)
    await updateUnplaced(tx, { id, version, unplaced: found.unplaced })
  })
  return true
}

/** Pauses the recurring job if its actor may not do its action any more, or no longer sees a location of it. */
async function findRunActor(input: Input): Promise<RequestContext | undefined> {
  const { services, org, row } = input
  const actor = await findActorContext(services, org, row)
  if (typeof actor === 'string') return pause(input, actor)
  if ((await countHiddenPlaces(actor.db, row)) > 0) {
    return pause(input, `${row.actor_name} no longer sees all locations of this recurring job.`)
  }
  return actor
}

const lateReason = 'Roomkeeper was not running at this time.'

/** Returns whether the recurring job goes on. */
async function handleRun(input: Input, run: DueRun): Promise<boolean> {
  const { on, row } = input
  const key = { id: row.id, at: run.at, timezone: run.timezone }
  // The process may have ended between two runs of the same time.
  if (await hasRun(on, key)) return true
  if (run.isLate) return skip(input, run, lateReason)
  const actor = await findRunActor(input)
  if (!actor) return false
  const open = await findOpenRun(on, key)
  if (open) return skip(input, run, `Job ${open.id}, which the run before started, has not ended.`)
  try {
    await requireReferences(actor.db, actionOfJob(row))
  } catch (error) {
    if (!isRefusal(error)) throw error
    await pause(input, error.message)
    return false
  }
  try {
    await startRun(actor, input, run)
    return true
  } catch (error) {
    if (error instanceof RunChanged) return false
    if (!isRefusal(error)) throw error
    return skip(input, run, error.message)
  }
}

/** Takes back a run that another node has made, or whose recurring job was changed meanwhile. */
class RunChanged extends Error {}

async function startRun(actor: RequestContext, { row }: Input, { at, timezone }: DueRun): Promise<void> {
  const request: CheckedRequest = {
    name: row.name,
    target: targetIn(targetOfJob(row), timezone),
    action: actionOfJob(row),
    settings: settingsOfJob(row),
    startAt: at,
    deadline: at + row.within_hours * hourMs,
  }
  await createJob(actor, request, {
    start: true,
    run: {
      recurringJob: row.id,
      write: async (tx, job) => {
        const present = await lockRecurringJob(tx, { id: row.id })
        if (present?.version !== row.version) throw new RunChanged()
        const run = { recurring_job: row.id, at, timezone, job_id: job.id, reason: null }
        if ((await insertRun(tx, run)).length === 0) throw new RunChanged()
      },
    },
  })
}

/** The rooms of one time zone. A target with `all` may have no other key. */
const targetIn = ({ all: _, ...target }: Target, timezone: string): Target => ({ ...target, timezones: [timezone] })

async function skip({ services, org, row }: Input, { at, timezone }: DueRun, reason: string): Promise<true> {
  const run = { recurring_job: row.id, at, timezone, job_id: null, reason }
  await services.db.forOrg(org.key).telemetry((tx) => insertRun(tx, run))
  return true
}

/** The service itself pauses it, and says why. */
async function pause({ services, org, row }: Input, reason: string): Promise<undefined> {
  try {
    await change(systemContext(services, { ...org }), 'recurringJobStop', async (tx) => {
      const present = await lockRecurringJob(tx, { id: row.id })
      if (present?.version !== row.version) throw new RunChanged()
      await updateRecurringJob(tx, { ...row, version: row.version + 1, state: 'PAUSED', reason })
      return {
        result: undefined,
        target: recurringJobRef(row),
        before: { state: row.state },
        after: { state: 'PAUSED', reason },
        located: locatedRows(await listPlaces(tx, row)),
      }
    })
  } catch (error) {
    if (!(error instanceof RunChanged)) throw error
  }
}
