// Finds the incidents of an organisation: observes, advances findings, groups them, and writes what has changed. [contract 10.finding]
import { setImmediate as nextTurn } from 'node:timers/promises'
import { minuteMs } from '../../../contract/durations.ts'
import { parseAirLimits } from '../../config/air-limits.ts'
import type { Services } from '../../context/services.ts'
import type { OrgReader } from '../../db/handles.ts'
import { readRulesInForce } from '../incident-rules/in-force.ts'
import { readSilences } from '../silences/in-force.ts'
import { advance, type EngineInput, listDueTimes, readGroupingFacts } from './advance.ts'
import { applyUpdates } from './apply.ts'
import { listEngineIncidents, listFindings, lockEngineIncidents } from './engine-store.ts'
import { isCountedByRuns } from './findings.ts'
import { groupFindings } from './grouping/grouping.ts'
import { type EngineIncident, reopenWithinMs } from './grouping/incident-drafts.ts'
import type { IncidentMetrics } from './metrics.ts'
import { KnownPeripherals } from './observations/known-peripherals.ts'
import { upsertKnownPeripherals } from './observations/peripheral-store.ts'
import { ReturningDevices } from './restarts/returning-devices.ts'
import { findLastRun, upsertLastRun } from './restarts/settle-store.ts'
import { engineIncident, findingOfRow } from './rows.ts'
import { StructureCache, type StructureOrg } from './structure.ts'
import type { Finding, Structure } from './types.ts'

/** All rules are checked this often; in between only those that must react within seconds. */
const fullRunEveryMs = minuteMs
/** All rules are also checked when a condition will have lasted long enough, unless these extra runs would use more than this share of the time. */
const earlyRunShare = 0.25
/** Another node continues the runs of one that ended within seconds. After a longer gap the service was down. */
const maxGapMs = 2 * fullRunEveryMs

/** Valid while this node holds the task of the organisation: no other node writes findings then. */
interface HeldState {
  readonly findings: readonly Finding[]
  readonly peripherals: KnownPeripherals
  readonly fullRunAt: number
  /** How long the last run of all rules took. */
  readonly fullRunMs: number
  /** When a condition will have lasted long enough, so that all rules must be checked. */
  readonly dueAt: number
  readonly ranAt: number
  /** The structure by which it was last checked whether subjects have moved. */
  readonly structure: Structure | undefined
  /** When the last run was, if the service was down since then. */
  readonly downSince?: number | undefined
}

interface EngineOptions {
  /** Presence does not count for this long after a start. */
  readonly settleMs: () => number
  readonly metrics: IncidentMetrics
}

interface ObservedOrg extends StructureOrg {
  readonly air_limits: string
}

export class IncidentEngine {
  readonly #structures: StructureCache
  readonly #options: EngineOptions
  readonly #states = new WeakMap<AbortSignal, HeldState>()

  constructor({ db }: Pick<Services, 'db'>, options: EngineOptions) {
    this.#structures = new StructureCache(db)
    this.#options = options
  }

  /** Must not run twice at the same time for an organisation. */
  async run(services: Services, org: ObservedOrg, signal: AbortSignal, certificateExpiresAt?: number): Promise<void> {
    // SQLite answers synchronously: without this, the event loop would be blocked until all organisations were visited.
    await nextTurn()
    const state = this.#states.get(signal)
    // After an error the findings are read again.
    this.#states.delete(signal)
    const known = state ?? (await readState(services.db.forOrg(org.key), services.clock.now()))
    const next = await this.#runOnce(services, org, known, certificateExpiresAt)
    this.#states.set(signal, next)
  }

  async #runOnce(
    { db, clock, feed, settings, reconnects }: Services,
    org: ObservedOrg,
    state: HeldState,
    certificateExpiresAt: number | undefined,
  ): Promise<HeldState> {
    const on = db.forOrg(org.key)
    const now = clock.now()
    const isFull = now - state.fullRunAt >= fullRunEveryMs || now < state.ranAt || isDueEarly(state, now)
    const rules = await readRulesInForce(on)
    const known = await this.#structures.read(on, org, now, state.findings)
    const settleMs = Math.max(this.#options.settleMs(), rules['device.offline'].holdMs)
    const restarts = await ReturningDevices.read(db.system, on, now, settleMs)
    const silences = await readSilences(on, now)
    const input: EngineInput = {
      now,
      times: { ...reconnects.current, now },
      on,
      rules,
      structure: known,
      silences,
      restarts,
      settings,
      airLimits: parseAirLimits(org.air_limits),
      peripherals: state.peripherals,
      certificateExpiresAt,
      isFull,
    }
    const startedAt = performance.now()
    const advanced = await advance(input, state)
    const judged = await restarts.judge(on)
    const hasOutage = advanced.matured.some(({ rule }) => rule === 'device.offline')
    const structure = hasOutage ? await this.#structures.refresh(on, org, input.times) : known
    const { fullRunAt, fullRunMs, dueAt } = isFull
      ? { fullRunAt: now, fullRunMs: performance.now() - startedAt, dueAt: advanced.nextDueAt }
      : state
    // `advance` looked for moved subjects in the structure before the refresh, so the next run must compare with that one.
    const { peripherals } = state
    const next = { findings: advanced.findings, peripherals, ranAt: now, structure: known, fullRunAt, fullRunMs, dueAt }
    if (isFull && advanced.findings.some(isCountedByRuns)) {
      await on.telemetry((tx) => upsertLastRun(tx, { ranAt: now }))
    }
    const peripheralRows = isFull ? peripherals.listChanges((id) => structure.endpoints.has(id)) : []
    if (peripheralRows.length > 0) await on.bulkTransaction((tx) => upsertKnownPeripherals(tx, peripheralRows))
    const isChanged = advanced.changed.length + advanced.ended.length > 0 || judged !== undefined
    if (!isChanged && !isFull) return next
    const facts = await readGroupingFacts(input, advanced)
    const group = (incidents: readonly EngineIncident[]) =>
      groupFindings({
        now,
        rules,
        structure,
        findings: advanced.findings,
        ended: advanced.ended.map(({ finding }) => finding),
        incidents,
        failedRestarts: judged?.failedRestarts ?? [],
        ...facts,
      })
    const ended = { endedAfter: now - reopenWithinMs }
    if (!isChanged && group((await listEngineIncidents(on, ended)).map(engineIncident)).length === 0) return next
    const applied = await on.bulkTransaction(async (tx) => {
      const rows = await lockEngineIncidents(tx, ended)
      return applyUpdates(tx, {
        now,
        structure,
        rows: new Map(rows.map((row) => [row.id, row])),
        updates: group(rows.map(engineIncident)),
        findings: advanced.findings,
        changed: advanced.changed,
        ended: advanced.ended.map(({ finding }) => finding),
        judgedUntil: judged?.judgedUntil,
      })
    })
    feed.forOrg(org.key).publish(applied.events)
    for (const { rule } of applied.opened) this.#options.metrics.countOpened(rule)
    for (const { rule, dueAt } of listDueTimes(input, state.findings, advanced.matured)) {
      this.#options.metrics.observeDelay(rule, clock.now() - dueAt)
    }
    return { ...next, findings: applied.findings }
  }
}

const isDueEarly = ({ dueAt, fullRunAt, fullRunMs }: HeldState, now: number): boolean =>
  now >= dueAt && now - fullRunAt >= fullRunMs / earlyRunShare

async function readState(on: OrgReader, now: number): Promise<HeldState> {
  const findings = (await listFindings(on)).map(findingOfRow)
  const ranAt = (await findLastRun(on))?.looked_at ?? now
  return {
    findings,
    peripherals: await KnownPeripherals.read(on),
    downSince: now - ranAt > maxGapMs ? ranAt : undefined,
    fullRunAt: Number.NEGATIVE_INFINITY,
    fullRunMs: 0,
    dueAt: Number.POSITIVE_INFINITY,
    ranAt: Number.NEGATIVE_INFINITY,
    structure: undefined,
  }
}
