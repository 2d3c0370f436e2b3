// Observes which endpoints are offline, without those that restart or update. [contract 10.rule]
import { setImmediate as nextTurn } from 'node:timers/promises'
import { hourMs } from '../../../../contract/durations.ts'
import { restartGraceMs } from '../../../../contract/fleet/commands.ts'
import type { OrgReader } from '../../../db/handles.ts'
import { readInParts, rowsPerPart } from '../../../db/queries/in-parts.ts'
import type { PresenceTimes } from '../../../nodes/presence-sql.ts'
import { conditionOf, type Finding, type Observation, type RulesInForce } from '../types.ts'
import {
  listConnectedRooms,
  listConnectedSince,
  listDisconnectedWithin,
  listNodesEndedWithin,
  listObservedAtNodeAfter,
  listObservedById,
  listObservedVia,
  type ObservedEndpoint,
} from './endpoint-store.ts'
import { type QuickInput, slackMs } from './input.ts'

/** A device can fail in the middle of an update; its last status then reports an update forever. */
const maxUpdateMs = hourMs

/** Returns undefined if the device was never connected, and if its gateway is away: `observeHidden` is about that. */
export function observeOffline(endpoint: ObservedEndpoint, now: number): Observation | undefined {
  const { id, connected, connection_time: since, restarting, overslept_at: oversleptAt } = endpoint
  if (since === null) return undefined
  const condition = conditionOf('device.offline', id)
  if (connected) return { ...condition, state: 'clear', since }
  if (endpoint.hidden) return undefined
  if (endpoint.asleep) return { ...condition, state: 'clear', since }
  if (oversleptAt !== null) return { ...condition, state: 'holds', since: oversleptAt, detail: { overslept: true } }
  if (restarting) return { ...condition, state: 'between', changesAt: since + restartGraceMs }
  if (now - since < maxUpdateMs && isUpdating(endpoint)) {
    return { ...condition, state: 'between', changesAt: since + maxUpdateMs }
  }
  return { ...condition, state: 'holds', since }
}

interface HiddenInput {
  /** Devices behind gateways. */
  readonly devices: readonly Pick<ObservedEndpoint, 'id' | 'via' | 'room_id' | 'hidden' | 'connected'>[]
  /** The observations of their gateways, by id. */
  readonly gateways: ReadonlyMap<string, Observation>
  /** The findings of the run before. */
  readonly findings: readonly Finding[]
  /** Rooms with a connected device. */
  readonly connectedRooms: ReadonlySet<number>
}

/**
 * Observes the devices that cannot be seen because their gateway is offline: they are subjects of its incident. What was found about a
 * device before stays as it is. [contract 10.gateway]
 */
export function observeHidden({ devices, gateways, findings, connectedRooms }: HiddenInput): Observation[] {
  const known = new Map(
    findings.filter(({ rule }) => rule === 'device.offline').map((finding) => [finding.subject.id, finding]),
  )
  return devices.flatMap(({ id, via, room_id, hidden, connected }) => {
    const gateway = via === null ? undefined : gateways.get(via)
    const before = known.get(id)
    if (connected || !hidden || !gateway || (before && before.detail.hiddenBy === undefined)) return []
    const { state, since } = gateway
    const isAlone = room_id !== null && !connectedRooms.has(room_id)
    const detail = { hiddenBy: via ?? '', ...(isAlone && { severity: 'CRITICAL' as const }) }
    const condition = { ...conditionOf('device.offline', id), state, ...(since !== undefined && { since }) }
    return [state === 'holds' ? { ...condition, detail } : condition]
  })
}

function isUpdating({ status }: ObservedEndpoint): boolean {
  const { upgradeStatus } = JSON.parse(status) as { upgradeStatus?: string }
  return upgradeStatus !== undefined && upgradeStatus !== '' && upgradeStatus !== 'IDLE'
}

/**
 * Observes the endpoints whose offline time has just become long enough, and those with a finding that may change. The costs depend on
 * how many these are, not on how many endpoints there are.
 */
export async function observeOfflineQuickly(on: OrgReader, input: QuickInput): Promise<Observation[]> {
  const { now, from, rules, times } = input
  const { holdMs } = rules['device.offline']
  const due = { ...times, from: from - holdMs - slackMs, to: now - holdMs }
  const endpoints = await listOfflineSince(on, due)
  if (input.hasSilences) endpoints.push(...(await listOfflineSince(on, { ...times, from: from - slackMs, to: now })))
  const findings = input.findings.filter(({ rule }) => rule === 'device.offline')
  if (findings.length > 0) {
    const known = new Set(findings.map(({ subject }) => subject.id))
    const connected = await listConnectedSince(on, { ...times, from: from - slackMs })
    endpoints.push(...connected.filter(({ id }) => known.has(id)))
    const ids = findings.filter((finding) => mayChange(finding, input)).map(({ subject }) => subject.id)
    endpoints.push(...(await readInParts(ids, (part) => listObservedById(on, { ...times, ids: part }))))
  }
  const observations = [...new Map(endpoints.map((each) => [each.id, each])).values()].flatMap((each) => {
    const observation = observeOffline(each, now)
    return observation ? [observation] : []
  })
  return [...observations, ...(await observeHiddenBehind(on, input, observations))]
}

/** Observes the devices of the gateways that were observed. */
async function observeHiddenBehind(on: OrgReader, input: QuickInput, observed: readonly Observation[]) {
  const gateways = new Map(
    observed.filter(({ subject }) => input.gateways.has(subject.id)).map((each) => [each.subject.id, each]),
  )
  if (gateways.size === 0) return []
  const devices = await listObservedVia(on, { ...input.times, gateways: [...gateways.keys()] })
  const rooms = [...new Set(devices.flatMap(({ room_id }) => room_id ?? []))]
  const connected = await readInParts(rooms, (part) => listConnectedRooms(on, { rooms: part }))
  const connectedRooms = new Set(connected.flatMap(({ room_id }) => room_id ?? []))
  return observeHidden({ devices, gateways, findings: input.findings, connectedRooms })
}

/**
 * Other findings change only by a new connection, until the silence or the time after a restart ends that keeps them from maturing. There
 * can be thousands of them for hours.
 */
function mayChange({ rule, subject, maturedAt, clearSince, detail }: Finding, input: QuickInput): boolean {
  if (maturedAt !== null) return clearSince !== null
  return !input.isReturning(subject.id) && !(detail.silenced && input.isSilenced(rule, subject))
}

/** Observes the endpoints that are offline, but not yet for as long as the rule asks for. They show how large a cause is. */
export async function listJustOffline(
  on: OrgReader,
  times: PresenceTimes,
  rules: RulesInForce,
): Promise<Observation[]> {
  const { now } = times
  const window = { ...times, from: now - rules['device.offline'].holdMs, to: now }
  const endpoints = await listOfflineSince(on, window)
  return endpoints.flatMap((each) => observeOffline(each, now) ?? []).filter(({ state }) => state === 'holds')
}

/** Lists the endpoints that went offline within a window, by themselves or with their node. */
async function listOfflineSince(
  on: OrgReader,
  window: PresenceTimes & { readonly from: number; readonly to: number },
): Promise<ObservedEndpoint[]> {
  const endpoints = await listDisconnectedWithin(on, window)
  for (const { id: node } of await listNodesEndedWithin(on, window)) {
    for (let after = ''; ; await nextTurn()) {
      const rows = await listObservedAtNodeAfter(on, { ...window, node, after, limit: rowsPerPart })
      endpoints.push(...rows)
      const last = rows.at(-1)
      if (!last || rows.length < rowsPerPart) break
      after = last.id
    }
  }
  return endpoints
}
