// Advances the findings of an organisation, and reads what else decides about its incidents.
import type { CauseLevel } from '../../../contract/incidents/incidents.ts'
import type { RuleId } from '../../../contract/incidents/rule-table.ts'
import type { AirLimits } from '../../../contract/journal/orgs.ts'
import type { SensorSettings } from '../../config/sensor-settings.ts'
import type { OrgReader } from '../../db/handles.ts'
import type { PresenceTimes } from '../../nodes/presence-sql.ts'
import { isSilenced, type Silence } from '../silences/in-force.ts'
import { findChannelName, findJobName, findProfileName, listOpenSubjects } from './engine-store.ts'
import { type AdvancedFindings, advanceFindings, dueTimeOfFinding, findingKey } from './findings.ts'
import type { GroupingInput } from './grouping/grouping-input.ts'
import { listLeftOut } from './observations/endpoint-store.ts'
import type { KnownPeripherals } from './observations/known-peripherals.ts'
import { listJustOffline } from './observations/presence.ts'
import { observeFull, observeQuick } from './observe.ts'
import { placeOfSubject } from './places.ts'
import type { ReturningDevices } from './restarts/returning-devices.ts'
import type { Finding, RulesInForce, Structure, Subject } from './types.ts'

export interface EngineInput {
  readonly now: number
  /** The times by which the state of endpoints is decided. */
  readonly times: PresenceTimes
  readonly on: OrgReader
  readonly rules: RulesInForce
  readonly structure: Structure
  readonly silences: readonly Silence[]
  readonly restarts: ReturningDevices
  readonly settings: SensorSettings
  readonly airLimits: AirLimits
  readonly peripherals: KnownPeripherals
  /** The earliest expiry among the TLS certificates of all nodes, in milliseconds; undefined if no node has one. */
  readonly certificateExpiresAt: number | undefined
  /** True if all rules are observed, and not only those that must react within seconds. */
  readonly isFull: boolean
}

interface StateBefore {
  readonly findings: readonly Finding[]
  readonly ranAt: number
  readonly structure: Structure | undefined
  readonly downSince?: number | undefined
}

interface AdvancedRun extends AdvancedFindings {
  /** When a condition will have lasted long enough, so that the next run must observe everything. Only set by a run that observed everything. */
  readonly nextDueAt: number
}

/** Observes the organisation, and advances the findings that there were before. */
export async function advance(input: EngineInput, before: StateBefore): Promise<AdvancedRun> {
  const { now, on, rules, structure, restarts, settings, airLimits, peripherals, certificateExpiresAt } = input
  const { findings, ranAt } = before
  const isSilencedSubject = (rule: RuleId, subject: Subject) => isSilencedNow(input, rule, subject)
  const { orgId } = structure
  const { gateways } = structure
  const { times } = input
  const common = { now, times, gateways, rules, findings, isSilenced: isSilencedSubject, orgId, certificateExpiresAt }
  const { observations, observedRules, nextDueAt } = input.isFull
    ? await observeFull(on, { ...common, settings, airLimits, peripherals })
    : await observeQuick(on, {
        ...common,
        from: ranAt,
        hasSilences: input.silences.length > 0,
        isReturning: (id) => restarts.isReturning(id),
      })
  const moved = await listMoved(on, structure, before)
  const advanced = advanceFindings({
    findings,
    observations,
    observedRules,
    rules,
    now,
    isSilenced: isSilencedSubject,
    presenceFrom: ({ id }, rule) => presenceFromOf(input, id, rules[rule].holdMs),
    downSince: before.downSince,
    isGone: (finding) => isDeleted(structure, finding) || moved.has(subjectKey(finding.subject)),
  })
  const dueTimes = advanced.findings
    .filter(({ rule }) => !rules[rule].isCheckedEverySecond)
    .map((finding) => dueTimeOfFinding(finding, rules) ?? 0)
    .filter((dueAt) => dueAt > now)
  return { ...advanced, nextDueAt: dueTimes.reduce((earliest, dueAt) => Math.min(earliest, dueAt), nextDueAt) }
}

/** A device that cannot be seen has the time that its gateway has. */
function presenceFromOf({ restarts, structure }: EngineInput, id: string, holdMs: number): number {
  const via = structure.endpoints.get(id)?.via ?? null
  const own = restarts.presenceFrom(id, holdMs)
  return via === null ? own : Math.max(own, restarts.presenceFrom(via, holdMs))
}

function isSilencedNow({ silences, structure, now }: EngineInput, rule: RuleId, subject: Subject): boolean {
  if (silences.length === 0) return false
  const { room, location } = placeOfSubject(structure, subject)
  const place = {
    endpointId: subject.type === 'endpoint' ? subject.id : undefined,
    roomId: room?.id,
    locationId: room?.locationId,
    regionId: location?.regionId,
    timezone: location?.timezone ?? structure.timezone,
  }
  return isSilenced(silences, place, rule, now)
}

function isDeleted({ endpoints, rooms }: Structure, { subject }: Finding): boolean {
  if (subject.type === 'endpoint') return !endpoints.has(subject.id)
  return subject.type === 'room' && !rooms.has(Number(subject.id))
}

/**
 * Lists the subjects of findings that are in another place than in the run before. The first run compares the subjects of open
 * incidents with the places that they had when they joined.
 */
async function listMoved(on: OrgReader, structure: Structure, before: StateBefore): Promise<ReadonlySet<string>> {
  const { structure: earlier } = before
  if (earlier === structure) return new Set()
  if (earlier) {
    const moved = before.findings.filter(({ subject }) => placeKey(earlier, subject) !== placeKey(structure, subject))
    return new Set(moved.map(({ subject }) => subjectKey(subject)))
  }
  const subjects = (await listOpenSubjects(on)).map(({ subject_type: type, subject_id: id, ...place }) => {
    const joinedAt = [place.room_id, place.location_id, place.region_id].join()
    return { type, id, joinedAt }
  })
  // The place of a job is that of its rooms, and does not change.
  const moved = subjects.filter(
    (subject) => subject.type !== 'job' && subject.joinedAt !== placeKey(structure, subject),
  )
  return new Set(moved.map(subjectKey))
}

function placeKey(structure: Structure, subject: Subject): string {
  const { room, location } = placeOfSubject(structure, subject)
  return [room?.id, room?.locationId, location?.regionId].join()
}

const subjectKey = ({ type, id }: Finding['subject']): string => `${type} ${id}`

/** When each finding had held long enough. Those that waited for the end of a silence are left out: their delay would measure the silence. */
export function listDueTimes(input: EngineInput, before: readonly Finding[], matured: readonly Finding[]) {
  const known = new Map(before.map((finding) => [findingKey(finding), finding.detail]))
  return matured.flatMap(({ rule, subject, since }) => {
    const { silenced, countsFrom = 0 } = known.get(findingKey({ rule, subject })) ?? {}
    const { holdMs, isAboutConnection } = input.rules[rule]
    const presenceFrom = isAboutConnection ? presenceFromOf(input, subject.id, holdMs) : 0
    return silenced ? [] : [{ rule, dueAt: Math.max(since, countsFrom, presenceFrom) + holdMs }]
  })
}

/** Reads what grouping needs beside findings, as far as they need it. */
export async function readGroupingFacts(
  input: EngineInput,
  { findings }: AdvancedFindings,
): Promise<Pick<GroupingInput, 'justOffline' | 'leftOut' | 'isSilenced' | 'nameOf'>> {
  const { on, rules, restarts, times } = input
  const justOffline = new Map<string, number>()
  let leftOut: ReadonlySet<string> = new Set()
  if (findings.some(({ rule, maturedAt }) => rule === 'device.offline' && maturedAt !== null)) {
    const waiting = new Set(findings.filter(({ maturedAt }) => maturedAt === null).map(findingKey))
    leftOut = new Set((await listLeftOut(on, times)).map(({ id }) => id))
    for (const { subject, since, rule } of await listJustOffline(on, times, rules)) {
      if (restarts.isReturning(subject.id) || waiting.has(findingKey({ rule, subject }))) continue
      if (since !== undefined && !isSilencedNow(input, rule, subject)) justOffline.set(subject.id, since)
    }
  }
  const names = new Map<string, string | undefined>()
  for (const { maturedAt, incidentId, subject, detail } of findings) {
    if (maturedAt === null || incidentId !== null) continue
    if (detail.profileId !== undefined) {
      names.set(`PROFILE ${detail.profileId}`, (await findProfileName(on, { id: detail.profileId }))?.name)
    }
    if (detail.jobId !== undefined) {
      names.set(`JOB ${detail.jobId}`, (await findJobName(on, { id: detail.jobId }))?.name)
    }
    if (subject.type === 'channel') {
      names.set(`CHANNEL ${subject.id}`, (await findChannelName(on, { id: Number(subject.id) }))?.name)
    }
  }
  const isSilencedFinding = ({ rule, subject }: Pick<Finding, 'rule' | 'subject'>) =>
    isSilencedNow(input, rule, subject)
  return {
    justOffline,
    leftOut,
    isSilenced: isSilencedFinding,
    nameOf: (level: CauseLevel, id: string) => names.get(`${level} ${id}`),
  }
}
