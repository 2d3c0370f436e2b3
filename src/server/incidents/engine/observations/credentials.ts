// Observes whether wrong credentials are sent for endpoints, and whether two devices share one. [contract 10.rule]
import { minuteMs } from '../../../../contract/durations.ts'
import type { OrgReader } from '../../../db/handles.ts'
import { type AttemptRow, listAttempts, storedKinds } from '../../credentials/attempt-store.ts'
import { conditionOf, type Finding, type Observation } from '../types.ts'
import type { FullInput } from './input.ts'

const kinds = { 'credential.refused': storedKinds.refused, 'credential.shared': storedKinds.replaced } as const
type CredentialRule = keyof typeof kinds

export async function observeCredentials(on: OrgReader, input: FullInput): Promise<Observation[]> {
  const { now, rules } = input
  const rulesOfCredentials = Object.keys(kinds) as CredentialRule[]
  const windowMs = (rule: CredentialRule) => (rules[rule].limits.withinMinutes ?? 0) * minuteMs
  const longestMs = Math.max(...rulesOfCredentials.map((rule) => Math.max(windowMs(rule), rules[rule].clearMs)))
  const rows = await listAttempts(on, { from: now - longestMs - minuteMs })
  return rulesOfCredentials.flatMap((rule) => {
    const known = new Map(input.findings.filter((each) => each.rule === rule).map((each) => [each.subject.id, each]))
    const byEndpoint = Map.groupBy(
      rows.filter(({ kind }) => kind === kinds[rule]),
      (row) => row.endpoint_id,
    )
    return [...new Set([...known.keys(), ...byEndpoint.keys()])].map((id): Observation => {
      const attempts = byEndpoint.get(id) ?? []
      const condition = conditionOf(rule, id)
      // A minute counts as long as a part of it is in the window.
      const recent = attempts.filter(({ minute }) => minute + minuteMs > now - windowMs(rule))
      const lastAt = Math.max(lastAttemptOf(known.get(id)), ...attempts.map(timeOf))
      if (isReached(rules[rule].limits, recent)) return { ...condition, state: 'holds', detail: { lastAt } }
      return { ...condition, state: 'clear', since: lastAt }
    })
  })
}

/** Attempts are deleted after two days, and the time that ends an incident can be longer. */
const lastAttemptOf = (finding: Finding | undefined): number =>
  Math.max(finding?.detail.lastAt ?? 0, finding?.clearSince ?? 0)

/** A version that did not store the time counted from the end of the minute. */
const timeOf = ({ minute, last_at }: AttemptRow): number => (last_at > 0 ? last_at : minute + minuteMs)

function isReached(
  { attempts = 0, takeOvers = 0, addresses = 1 }: Readonly<Record<string, number>>,
  rows: readonly AttemptRow[],
): boolean {
  const count = rows.reduce((sum, row) => sum + row.count, 0)
  return count >= Math.max(attempts, takeOvers) && new Set(rows.map(({ address }) => address)).size >= addresses
}
