// Reads the tables for everything that the rules of incidents are about. [contract 10.rule]
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type RuleId, ruleIds } from '../../../contract/incidents/rule-table.ts'
import type { OrgReader } from '../../db/handles.ts'
import { rowsPerPart } from '../../db/queries/in-parts.ts'
import { findingKey } from './findings.ts'
import { observeConfigs, observeConfigsQuickly } from './observations/configs.ts'
import { observeCredentials } from './observations/credentials.ts'
import { listObservedAfter, type ObservedWithSample } from './observations/endpoint-store.ts'
import { observeFlapping, observeFlappingQuickly } from './observations/flapping.ts'
import { observeGatewayItems, observeSources } from './observations/gateways.ts'
import type { FullInput, QuickInput } from './observations/input.ts'
import { observeJobs } from './observations/jobs.ts'
import { observeHidden, observeOffline, observeOfflineQuickly } from './observations/presence.ts'
import { observeAir, observeCrowd, RoomSamples } from './observations/rooms.ts'
import { observeCertificate, observeChannels } from './observations/service.ts'
import { observeStatus } from './observations/status.ts'
import { listCapacities } from './structure-store.ts'
import type { Observation, RulesInForce } from './types.ts'

export interface ObservationResult {
  readonly observations: readonly Observation[]
  /** For these rules all subjects were observed, so a subject without an observation is unknown. */
  readonly observedRules: ReadonlySet<RuleId>
  /** The earliest time at which a condition will have lasted long enough that only `observeFull` would notice. */
  readonly nextDueAt: number
}

/** Observes the rules that are checked every second. It costs a few queries by index while nothing happens. */
export async function observeQuick(on: OrgReader, input: QuickInput): Promise<ObservationResult> {
  const observations = [
    ...(await observeOfflineQuickly(on, input)),
    ...(await observeFlappingQuickly(on, input)),
    ...(await observeConfigsQuickly(on, input)),
    ...(await observeJobs(on, input)),
    observeCertificate(input),
  ]
  return {
    observations: observations.filter(relevantTo(input)),
    observedRules: new Set(),
    nextDueAt: Number.POSITIVE_INFINITY,
  }
}

/** Observes everything, in pages that let other work run in between. */
export async function observeFull(on: OrgReader, input: FullInput): Promise<ObservationResult> {
  const { now, rules, settings } = input
  const observations: Observation[] = []
  let nextDueAt = Number.POSITIVE_INFINITY
  const isRelevant = relevantTo(input)
  const add = (observed: readonly (Observation | undefined)[]) => {
    for (const observation of observed) {
      if (!observation) continue
      const dueAt = dueTimeOf(observation, rules)
      if (dueAt > now) nextDueAt = Math.min(nextDueAt, dueAt)
      if (isRelevant(observation)) observations.push(observation)
    }
  }
  input.peripherals.startCheck(now)
  const samples = new RoomSamples(now, settings)
  const gateways = new Map<string, Observation>()
  const behindGateways: ObservedWithSample[] = []
  const connectedRooms = new Set<number>()
  const aboutParts = Map.groupBy(
    input.findings.filter(({ subject }) => subject.part !== undefined),
    ({ subject }) => subject.id,
  )
  for (let after = ''; ; await nextTurn()) {
    const rows = await listObservedAfter(on, { ...input.times, after, limit: rowsPerPart })
    for (const row of rows) {
      const offline = observeOffline(row, now)
      const findings = aboutParts.get(row.id) ?? []
      add([offline, ...observeStatus({ endpoint: row, findings }, rules, input)])
      samples.add(row)
      if (offline && input.gateways.has(row.id)) gateways.set(row.id, offline)
      if (row.via !== null) behindGateways.push(row)
      if (row.connected && row.room_id !== null) connectedRooms.add(row.room_id)
    }
    const last = rows.at(-1)
    if (!last || rows.length < rowsPerPart) break
    after = last.id
  }
  add([
    ...observeHidden({ devices: behindGateways, gateways, findings: input.findings, connectedRooms }),
    ...(await observeRooms(on, input, samples)),
    ...(await observeFlapping(on, input)),
    ...(await observeConfigs(on, input)),
    ...(await observeGatewayItems(on, input)),
    ...(await observeSources(on, input)),
    ...(await observeCredentials(on, input)),
    observeCertificate(input),
    ...(await observeChannels(on, input)),
    ...(await observeJobs(on, input)),
  ])
  return { observations, observedRules: new Set(ruleIds), nextDueAt }
}

/** Only for conditions whose beginning is in a table. For the others `dueTimeOfFinding` says when they are due. */
function dueTimeOf({ rule, state, since, changesAt }: Observation, rules: RulesInForce): number {
  if (changesAt !== undefined) return changesAt
  if (state !== 'holds' || since === undefined || rules[rule].isCheckedEverySecond) return Number.POSITIVE_INFINITY
  return since + rules[rule].holdMs
}

async function observeRooms(
  on: OrgReader,
  input: FullInput,
  samples: RoomSamples,
): Promise<(Observation | undefined)[]> {
  const findings = new Map(input.findings.map((finding) => [findingKey(finding), finding]))
  const capacities = new Map((await listCapacities(on)).map(({ id, capacity }) => [id, capacity ?? undefined]))
  const air = {
    limits: input.airLimits,
    marginPercent: input.rules['air.beyond'].limits.marginPercent ?? 0,
  }
  return [...samples.aggregates()].flatMap(({ roomId, sample }) => {
    const subject = { type: 'room', id: String(roomId) } as const
    const before = findings.get(findingKey({ rule: 'air.beyond', subject }))
    return [observeAir(roomId, sample, air, before), observeCrowd(roomId, sample, capacities.get(roomId))]
  })
}

/**
 * Without a finding only a condition that holds matters, and only once it has held long enough if the database knows since when:
 * then a device that is away for a moment writes no row. Under a silence it is remembered immediately, because it counts from the end of that.
 */
function relevantTo({
  now,
  rules,
  findings,
  isSilenced,
}: Pick<FullInput, 'now' | 'rules' | 'findings' | 'isSilenced'>) {
  const known = new Set(findings.map(findingKey))
  return (observation: Observation | undefined): observation is Observation => {
    if (!observation) return false
    if (known.has(findingKey(observation))) return true
    const { rule, subject, state, since } = observation
    if (state !== 'holds') return false
    return since === undefined || now - since >= rules[rule].holdMs || isSilenced(rule, subject)
  }
}
