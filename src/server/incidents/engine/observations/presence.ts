// Observes which endpoints are offline, without those that restart or update. [contract 10.rule]
import { setImmediate as nextTurn } from 'node:timers/promises'
import { hourMs } from '../../../../contract/durations.ts'
import { restartGraceMs } from '../../../../contract/fleet/commands.ts'
import type { OrgReader } from '../../../db/handles.ts'
import { readInParts, rowsPerPart } from '../../../db/queries/in-parts.ts'
import { conditionOf, type Finding, type Observation, type RulesInForce } from '../types.ts'
import {
  listConnectedSince,
  listDisconnectedWithin,
  listNodesEndedWithin,
  listObservedAtNodeAfter,
  listObservedById,
  type ObservedEndpoint,
} from './endpoint-store.ts'
import { type QuickInput, slackMs } from './input.ts'

/** A device may fail in the middle of an update, and then its last status reports an update for ever. */
const maxUpdateMs = hourMs

/** Returns undefined if the device was never connected. */
export function observeOffline(endpoint: ObservedEndpoint, now: number): Observation | undefined {
  const { id, connected, connection_time: since, restarting } = endpoint
  if (since === null) return undefined
  const condition = conditionOf('device.offline', id)
  if (connected) return { ...condition, state: 'clear', since }
  if (restarting) return { ...condition, state: 'between', changesAt: since + restartGraceMs }
  if (now - since < maxUpdateMs && isUpdating(endpoint)) {
    return { ...condition, state: 'between', changesAt: since + maxUpdateMs }
  }
  return { ...condition, state: 'holds', since }
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
  const { now, from, rules } = input
  const { holdMs } = rules['device.offline']
  const due = { now, from: from - holdMs - slackMs, to: now - holdMs }
  const endpoints = await listOfflineSince(on, due)
  if (input.hasSilences) endpoints.push(...(await listOfflineSince(on, { now, from: from - slackMs, to: now })))
  const findings = input.findings.filter(({ rule }) => rule === 'device.offline')
  if (findings.length > 0) {
    const known = new Set(findings.map(({ subject }) => subject.id))
    const connected = await listConnectedSince(on, { now, from: from - slackMs })
    endpoints.push(...connected.filter(({ id }) => known.has(id)))
    const ids = findings.filter((finding) => mayChange(finding, input)).map(({ subject }) => subject.id)
    endpoints.push(...(await readInParts(ids, (part) => listObservedById(on, { now, ids: part }))))
  }
  return [...new Map(endpoints.map((each) => [each.id, each])).values()].flatMap((each) => {
    const observation = observeOffline(each, now)
    return observation ? [observation] : []
  })
}

/**
 * Other findings change only by a new connection, until the silence or the time after a restart ends that keeps them from maturing. There
 * may be thousands of them for hours.
 */
function mayChange({ rule, subject, maturedAt, clearSince, detail }: Finding, input: QuickInput): boolean {
  if (maturedAt !== null) return clearSince !== null
  return !input.isReturning(subject.id) && !(detail.silenced && input.isSilenced(rule, subject))
}

/** Observes the endpoints that are offline, but not yet for as long as the rule asks for. They show how large a cause is. */
export async function listJustOffline(on: OrgReader, now: number, rules: RulesInForce): Promise<Observation[]> {
  const window = { now, from: now - rules['device.offline'].holdMs, to: now }
  const endpoints = await listOfflineSince(on, window)
  return endpoints.flatMap((each) => observeOffline(each, now) ?? []).filter(({ state }) => state === 'holds')
}

/** Lists the endpoints that went offline within a window, by themselves or with their node. */
async function listOfflineSince(
  on: OrgReader,
  window: { readonly now: number; readonly from: number; readonly to: number },
): Promise<ObservedEndpoint[]> {
  const endpoints = await listDisconnectedWithin(on, window)
  for (const { id: node } of await listNodesEndedWithin(on, window)) {
    for (let after = ''; ; await nextTurn()) {
      const rows = await listObservedAtNodeAfter(on, { now: window.now, node, after, limit: rowsPerPart })
      endpoints.push(...rows)
      const last = rows.at(-1)
      if (!last || rows.length < rowsPerPart) break
      after = last.id
    }
  }
  return endpoints
}
