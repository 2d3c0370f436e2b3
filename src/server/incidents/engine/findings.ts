// Advances findings by what was observed: they begin, mature, and end. Pure, so that any course of time can be tested. [contract 10.finding]
import { isDeepStrictEqual } from 'node:util'
import { incidentRules, type RuleId } from '../../../contract/incidents/rule-table.ts'
import type { Finding, FindingDetail, Observation, RuleInForce, RulesInForce, Subject } from './types.ts'

export interface FindingsInput {
  readonly findings: readonly Finding[]
  readonly observations: readonly Observation[]
  /** The rules for which a subject without an observation is unknown. */
  readonly observedRules: ReadonlySet<RuleId>
  readonly rules: RulesInForce
  readonly now: number
  readonly isSilenced: (rule: RuleId, subject: Subject) => boolean
  /** Offline time before this does not count: the service had just started, or the node of the device had ended. */
  readonly presenceFrom: (subject: Subject, rule: RuleId) => number | undefined
  /** Whether the subject was deleted, or is in another place than when the finding joined its incident. */
  readonly isGone: (finding: Finding) => boolean
  /** Set in the first run after a time in which the service was down: when the last run before that was. */
  readonly downSince?: number | undefined
}

type FindingEnd = 'cleared' | 'gone' | 'disabled'

export interface AdvancedFindings {
  /** All current findings. */
  readonly findings: readonly Finding[]
  /** Current findings that are new or changed since the run before. Their rows are written. */
  readonly changed: readonly Finding[]
  /** Current findings whose condition has now held for long enough. */
  readonly matured: readonly Finding[]
  /** Findings of the run before that have ended. Their rows are deleted. Findings that never matured are included. */
  readonly ended: readonly { readonly finding: Finding; readonly reason: FindingEnd }[]
}

export const findingKey = ({ rule, subject }: Pick<Finding, 'rule' | 'subject'>): string =>
  `${rule} ${subject.type} ${subject.id}${subject.part === undefined ? '' : ` ${subject.part}`}`

export function advanceFindings(input: FindingsInput): AdvancedFindings {
  const observed = new Map(input.observations.map((o) => [findingKey(o), o]))
  const findings: Finding[] = []
  const changed: Finding[] = []
  const matured: Finding[] = []
  const ended: { finding: Finding; reason: FindingEnd }[] = []
  const keep = (before: Finding | undefined, after: Finding) => {
    findings.push(after)
    if (before && isDeepStrictEqual(before, after)) return
    changed.push(after)
    if (after.maturedAt !== null && (before?.maturedAt ?? null) === null) matured.push(after)
  }
  for (const finding of input.findings) {
    const key = findingKey(finding)
    const observation = observed.get(key)
    observed.delete(key)
    const step = advanceOne(input, pauseWhileDown(finding, input.downSince), observation)
    if (typeof step === 'string') ended.push({ finding, reason: step })
    else keep(finding, step)
  }
  for (const observation of observed.values()) {
    if (observation.state !== 'holds' || !input.rules[observation.rule].isEnabled) continue
    keep(undefined, matureIfDue(input, beginFinding(observation, input.now)))
  }
  return { findings, changed, matured, ended }
}

function advanceOne(
  input: FindingsInput,
  finding: Finding,
  observation: Observation | undefined,
): Finding | FindingEnd {
  const rule = input.rules[finding.rule]
  if (!rule.isEnabled) return 'disabled'
  if (input.isGone(finding)) return 'gone'
  if (!observation) return input.observedRules.has(finding.rule) ? pauseUnknown(finding, input.now) : finding
  const known = resumeKnown(finding, input.now)
  if (observation.state === 'holds') return matureIfDue(input, continueFinding(known, observation, input.now))
  // The condition must hold without a break before it matures.
  if (known.maturedAt === null) return 'cleared'
  if (observation.state === 'between') return { ...known, clearSince: null }
  return clearIfDue(rule, known, observation, input.now)
}

const beginFinding = ({ rule, subject, since, detail = {} }: Observation, now: number): Finding => ({
  rule,
  subject,
  since: Math.min(since ?? now, now),
  maturedAt: null,
  clearSince: null,
  incidentId: null,
  detail,
})

function continueFinding(finding: Finding, { since, detail }: Observation, now: number): Finding {
  // A later beginning means that the condition was interrupted between two runs.
  const isInterrupted = finding.maturedAt === null && since !== undefined && since > finding.since
  return {
    ...finding,
    since: isInterrupted ? Math.min(since, now) : finding.since,
    clearSince: null,
    detail: detail ? { ...detail, ...bookkeepingOf(finding.detail) } : finding.detail,
  }
}

/** The fields of a finding's detail that only this file uses, until the finding matures. */
const bookkeepingOf = ({ countsFrom, silenced, unknownSince }: FindingDetail): FindingDetail => ({
  ...(countsFrom !== undefined && { countsFrom }),
  ...(silenced !== undefined && { silenced }),
  ...(unknownSince !== undefined && { unknownSince }),
})

const withoutBookkeeping = ({ countsFrom, silenced, unknownSince, ...detail }: FindingDetail): FindingDetail => detail

function matureIfDue(input: FindingsInput, finding: Finding): Finding {
  const { now, rules } = input
  if (finding.maturedAt !== null) return finding
  if (input.isSilenced(finding.rule, finding.subject)) {
    return { ...finding, detail: { ...finding.detail, silenced: true } }
  }
  const detail = endSilence(finding.detail, now)
  const presenceFrom = rules[finding.rule].isAboutConnection
    ? input.presenceFrom(finding.subject, finding.rule)
    : undefined
  const countsFrom = Math.max(finding.since, detail.countsFrom ?? 0, presenceFrom ?? 0)
  if (now < countsFrom + rules[finding.rule].holdMs) return { ...finding, detail }
  return { ...finding, maturedAt: now, detail: withoutBookkeeping(detail) }
}

/** When a finding matures if its condition lasts. Undefined if it has matured, and while it is silenced or its state is unknown. */
export function dueTimeOfFinding({ rule, since, maturedAt, detail }: Finding, rules: RulesInForce): number | undefined {
  if (maturedAt !== null || detail.silenced || detail.unknownSince !== undefined) return undefined
  return Math.max(since, detail.countsFrom ?? 0) + rules[rule].holdMs
}

/** At the end of a silence the condition begins to count. */
function endSilence({ silenced, ...detail }: FindingDetail, now: number): FindingDetail {
  return silenced ? { ...detail, countsFrom: now } : detail
}

/** Time in which nothing is known counts neither for the condition nor for its opposite. */
function pauseUnknown(finding: Finding, now: number): Finding {
  if (finding.maturedAt !== null) return finding.clearSince === null ? finding : { ...finding, clearSince: null }
  if (finding.detail.unknownSince !== undefined) return finding
  return { ...finding, detail: { ...finding.detail, unknownSince: now } }
}

/** Whether the engine's checks decide when it matures or ends. */
export const isCountedByRuns = ({ rule, maturedAt, clearSince }: Finding): boolean =>
  incidentRules[rule].isTimedByChecks && (maturedAt === null || clearSince !== null)

/** The time during which the service was down does not count, because nothing was observed then. */
const pauseWhileDown = (finding: Finding, downSince: number | undefined): Finding =>
  downSince !== undefined && isCountedByRuns(finding)
    ? pauseUnknown(finding, Math.max(downSince, finding.since))
    : finding

function resumeKnown(finding: Finding, now: number): Finding {
  const { unknownSince, ...detail } = finding.detail
  if (unknownSince === undefined) return finding
  const countsFrom = (detail.countsFrom ?? finding.since) + (now - unknownSince)
  return { ...finding, detail: { ...detail, countsFrom } }
}

function clearIfDue(rule: RuleInForce, finding: Finding, { since }: Observation, now: number): Finding | 'cleared' {
  const clearSince = Math.min(since ?? finding.clearSince ?? now, now)
  return now - clearSince >= rule.clearMs ? 'cleared' : { ...finding, clearSince }
}
