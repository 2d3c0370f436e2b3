// Decides which incidents there are: findings with one cause share an incident. Pure, so that any course of events can be tested. [contract 10.cause]

import { isDeepStrictEqual } from 'node:util'
import type { CauseLevel } from '../../../../contract/incidents/incidents.ts'
import { isAtLeast, type Severity } from '../../../../contract/incidents/rule-table.ts'
import { findingKey } from '../findings.ts'
import { placeOfSubject } from '../places.ts'
import type { Cause, Finding, FindingDetail, RulesInForce } from '../types.ts'
import { DraftSet, isGroupedByKey } from './draft-set.ts'
import type { GroupingInput } from './grouping-input.ts'
import { type IncidentDetail, type IncidentDraft, type IncidentUpdate, reopenWithinMs } from './incident-drafts.ts'
import { groupOffline } from './offline-grouping.ts'

/** Returns what happens to incidents. New ones have negative ids. */
export function groupFindings(input: GroupingInput): IncidentUpdate[] {
  const { now, structure, findings, ended, incidents } = input
  const drafts = new DraftSet({ now, structure, incidents, findings: [...findings, ...ended] })
  for (const finding of ended) drafts.takeOut(finding)
  reopenForAttempts(drafts, input)
  groupOffline(drafts, input)
  for (const finding of findings) {
    if (finding.rule === 'device.offline' || finding.maturedAt === null || drafts.of(finding)) continue
    if (finding.rule === 'device.flapping' && wasOffline(drafts, finding, input)) continue
    joinByCause(drafts, finding, input)
  }
  for (const draft of drafts) finish(draft, input)
  return drafts.updates
}

function joinByCause(drafts: DraftSet, finding: Finding, input: GroupingInput): void {
  const { rule } = finding
  const cause = causeOf(finding, input)
  const lasting = drafts.findLasting(rule, cause, finding.detail)
  if (lasting) drafts.move(finding, lasting)
  else drafts.open({ rule, cause, severity: input.rules[rule].severity, findings: [finding] })
}

/**
 * A device that is away for minutes each time it disconnects has an incident of `device.offline` already. While that is open, and for
 * as long as it would reopen, the device needs no second one.
 */
function wasOffline(drafts: DraftSet, { subject }: Finding, { now, structure }: GroupingInput): boolean {
  const device = structure.endpoints.get(subject.id)
  const isAbout = (level: CauseLevel, id: string): boolean => {
    if (level === 'ROOM') return id === String(device?.roomId)
    const pair = structure.endpoints.get(id)?.pairGroup
    return level === 'ENDPOINT' && (id === subject.id || (pair !== undefined && pair === device?.pairGroup))
  }
  return [...drafts].some(({ after, members, left }) => {
    if (after.rule !== 'device.offline') return false
    const key = findingKey({ rule: after.rule, subject })
    // An incident that has just lost its last finding is resolved at the end of the run.
    if (members.has(key) || left.has(key)) return true
    return isAbout(after.level, after.causeId) && (after.causeEndedAt ?? 0) > now - reopenWithinMs
  })
}

/** The group of the finding's rule. Where the subject has none, such as a device in no location, the next smaller one counts. */
function causeOf({ rule, subject, detail }: Finding, { rules, structure, nameOf }: GroupingInput): Cause {
  const endpoint = subject.type === 'endpoint' ? structure.endpoints.get(subject.id) : undefined
  const { room, location } = placeOfSubject(structure, subject)
  const { groupedBy } = rules[rule]
  if (groupedBy === 'organisation') return { level: 'ORGANISATION', id: structure.orgId, name: structure.orgName }
  if (groupedBy === 'channel') return { level: 'CHANNEL', id: subject.id, name: nameOf('CHANNEL', subject.id) ?? '' }
  if (groupedBy === 'job') return { level: 'JOB', id: subject.id, name: detail.job?.name ?? '' }
  if (groupedBy === 'profile' && detail.profileId !== undefined) {
    const id = String(detail.profileId)
    return { level: 'PROFILE', id, name: nameOf('PROFILE', id) ?? '' }
  }
  if (groupedBy === 'profile' && detail.jobId !== undefined) {
    const id = String(detail.jobId)
    return { level: 'JOB', id, name: nameOf('JOB', id) ?? '' }
  }
  if ((groupedBy === 'model' || groupedBy === 'model and fault') && endpoint)
    return { level: 'MODEL', id: endpoint.model, name: endpoint.model }
  if (groupedBy === 'location' && location) return { level: 'LOCATION', id: String(location.id), name: location.name }
  if (room && (groupedBy === 'room' || groupedBy === 'location')) {
    return { level: 'ROOM', id: String(room.id), name: room.name }
  }
  return { level: 'ENDPOINT', id: subject.id, name: endpoint?.name ?? '' }
}

/** A new attempt with wrong credentials reopens an incident that a person resolved. [contract 10.states] */
function reopenForAttempts(drafts: DraftSet, { now, rules, isSilenced }: GroupingInput): void {
  for (const draft of drafts) {
    const { rule, state, level, causeId, causeName, resolvedAt, since } = draft.after
    if (!rules[rule].reopensOnNewAttempt || state !== 'RESOLVED' || !draft.isLasting) continue
    // The incident reopens after the silence, because the attempt is then still newer than the resolution.
    if (draft.areAllSilenced(isSilenced)) continue
    // The opposite of the condition counts from the last attempt.
    const isNew = [...draft.members.values()].some(
      ({ detail, clearSince }) => Math.max(detail.lastAt ?? 0, clearSince ?? 0) > (resolvedAt ?? now),
    )
    if (isNew) draft.reopen(now, { level, id: causeId, name: causeName }, since)
  }
}

/** An incident that has lost its last finding ends. Others get the severity and the detail of their findings. */
function finish(draft: IncidentDraft, { now, rules, isSilenced }: GroupingInput): void {
  if (draft.isLasting && draft.members.size === 0 && draft.left.size > 0) {
    if (draft.isOpen) draft.resolve(now)
    else draft.change({ causeEndedAt: now })
  }
  if (draft.isOpen && draft.members.size > 0) {
    updateSeverity(draft, rules)
    if (draft.before && draft.timeline.length === 0) draft.noteJoined(now)
    if (draft.timeline.length === 0) draft.noteLeft(now)
    updateDetail(draft)
  }
  // The message that ends flapping says whether the incident is open, so it must not fall into a silence.
  if (!draft.isOpen || !draft.areAllSilenced(isSilenced)) draft.endFlapping(now)
  // The message about its end is queued, and the delivery holds it until the silence is over.
  if (draft.sendsMoreThanEnd && draft.areAllSilenced(isSilenced)) draft.sendOnlyEnd()
}

function updateSeverity(draft: IncidentDraft, rules: RulesInForce): void {
  const { rule, level, detail } = draft.after
  const isWhole = rule === 'device.offline' && isWholePlace(level) && !detail.overslept
  let severity: Severity = isWhole ? 'CRITICAL' : rules[rule].severity
  for (const { detail } of draft.members.values()) {
    if (isWorse(detail.severity ?? 'INFO', severity)) severity = detail.severity ?? severity
  }
  if (severity === draft.after.severity) return
  const { worstSeverity = draft.after.severity } = draft.after.detail
  draft.change({ severity })
  draft.changeDetail({ worstSeverity: isWorse(severity, worstSeverity) ? severity : worstSeverity })
  if (!draft.before) return
  draft.timeline.push('SEVERITY')
  draft.notify('incident.changed')
}

/** Nothing of such a place is connected. */
const isWholePlace = (level: CauseLevel): boolean => ['ROOM', 'LOCATION', 'ORGANISATION'].includes(level)

const isWorse = (a: Severity, b: Severity): boolean => !isAtLeast(b, a)

/**
 * Title and hint name the settings, sensors, peripherals and items of all findings, and otherwise what the only finding says. The settings of a profile or a
 * job are what its findings have in common, so they stay as they were. A fault has a text as long as all devices report the same one.
 */
function updateDetail(draft: IncidentDraft): void {
  const members = [...draft.members.values()]
  const { rule, level, detail: known } = draft.after
  if (rule === 'device.offline' || (!draft.isTouched && members.length > 1)) return
  const union = (name: 'keys' | 'sensors') => [...new Set(members.flatMap(({ detail }) => detail[name] ?? []))].sort()
  const [only] = members.length === 1 ? members : []
  const keys = isGroupedByKey(level) && known.keys ? known.keys : union('keys')
  const sensors = union('sensors')
  const fault = commonFaultOf(members)
  const peripherals = members.flatMap(({ detail }) => detail.peripherals ?? [])
  const unmanaged = members.flatMap(({ detail }) => detail.unmanaged ?? []).sort()
  const detail = {
    ...(only ? { ...only.detail, ...memoryOf(known) } : known),
    ...(keys.length > 0 && { keys }),
    ...(sensors.length > 0 && { sensors }),
    ...(fault && { fault }),
    ...(peripherals.length > 0 && { peripherals }),
    ...(unmanaged.length > 0 && { unmanaged }),
  }
  const isChanged = draft.isTouched
    ? !isDeepStrictEqual(detail, known)
    : !isDeepStrictEqual(withoutReadings(detail), withoutReadings(known))
  if (isChanged) draft.change({ detail })
}

function commonFaultOf(members: readonly Finding[]): FindingDetail['fault'] {
  const fault = members[0]?.detail.fault
  return fault && members.every(({ detail }) => detail.fault?.text === fault.text)
    ? fault
    : fault && { code: fault.code }
}

/** The facts that the engine itself remembers about an incident, beside what its findings say. */
const memoryOf = ({ worstSeverity, joinedAt, leftAt, hasJoinedSince }: IncidentDetail): IncidentDetail => ({
  ...(worstSeverity !== undefined && { worstSeverity }),
  ...(joinedAt !== undefined && { joinedAt }),
  ...(leftAt !== undefined && { leftAt }),
  ...(hasJoinedSince !== undefined && { hasJoinedSince }),
})

/** Numbers that change with every run, and the text of a fault, which can have such a number, do not make a new version of the incident. */
const withoutReadings = ({
  readings,
  people,
  freePercent,
  opensBelowPercent,
  storage,
  lastAt,
  fault,
  ...detail
}: IncidentDetail): IncidentDetail => detail
