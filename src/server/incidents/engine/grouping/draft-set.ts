// The incidents of one run by their cause: finds the one that a finding belongs to, or opens one.
import type { Severity } from '../../../../contract/incidents/rule-table.ts'
import { findingKey } from '../findings.ts'
import type { Cause, Finding, FindingDetail, Structure } from '../types.ts'
import { type EngineIncident, IncidentDraft, type IncidentUpdate, reopenWithinMs } from './incident-drafts.ts'

interface DraftSetInput {
  readonly now: number
  readonly structure: Structure
  /** Incidents whose cause lasts, those whose cause ended within the last hour, and flapping ones. */
  readonly incidents: readonly EngineIncident[]
  /** The findings of the run before, and new findings. */
  readonly findings: readonly Finding[]
}

export interface Opening {
  readonly rule: Finding['rule']
  readonly cause: Cause
  readonly severity: Severity
  readonly findings: readonly Finding[]
  readonly splitFrom?: number | undefined
}

/** The details of a finding that tell apart incidents of one rule and cause. */
type GroupDetail = Pick<FindingDetail, 'keys' | 'overslept' | 'fault' | 'source'>

export class DraftSet {
  readonly #now: number
  readonly #structure: Structure
  readonly #drafts = new Map<number, IncidentDraft>()
  /** The incident to continue for each cause. */
  readonly #byCause = new Map<string, IncidentDraft>()
  /** The incident that each finding is in. */
  readonly #byFinding = new Map<string, IncidentDraft>()

  constructor({ now, structure, incidents, findings }: DraftSetInput) {
    this.#now = now
    this.#structure = structure
    const members = Map.groupBy(findings, ({ incidentId }) => incidentId)
    for (const incident of incidents) {
      const draft = new IncidentDraft(incident, incident, members.get(incident.id) ?? [])
      this.#drafts.set(incident.id, draft)
      for (const finding of draft.members.keys()) this.#byFinding.set(finding, draft)
      // This outage has ended, so a later one of the same place opens a new incident.
      if (incident.detail.outageEndedAt !== undefined || isClosedForOthers(incident)) continue
      const key = this.#keyOf(incident, incident.detail)
      const other = this.#byCause.get(key)
      if (!other || isBetter(incident, other.after)) this.#byCause.set(key, draft)
    }
  }

  [Symbol.iterator](): Iterator<IncidentDraft> {
    return this.#drafts.values()
  }

  /** Returns the incident that a finding is in. */
  of(finding: Finding): IncidentDraft | undefined {
    return this.#byFinding.get(findingKey(finding))
  }

  /** Finds the incident of a cause that lasts. One of offline devices is found also if a person resolved it. */
  findLasting(rule: Finding['rule'], cause: Cause, detail: GroupDetail = {}): IncidentDraft | undefined {
    return this.#findOf(rule, cause, detail, ({ isLasting }) => isLasting)
  }

  /** For a profile or a job, an incident that has only some of the keys is found too, because one device may reject more keys than another. */
  #findOf(
    rule: Finding['rule'],
    cause: Cause,
    group: GroupDetail,
    isWanted: (draft: IncidentDraft) => boolean,
  ): IncidentDraft | undefined {
    const same = this.#byCause.get(this.#keyOf({ rule, level: cause.level, causeId: cause.id }, group))
    if (!isGroupedByKey(cause.level) || (same && isWanted(same))) return same && isWanted(same) ? same : undefined
    return [...this.#byCause.values()].find((draft) => {
      const { rule: itsRule, level, causeId, detail } = draft.after
      if (itsRule !== rule || level !== cause.level || causeId !== cause.id || !isWanted(draft)) return false
      return detail.keys?.some((key) => group.keys?.includes(key)) ?? false
    })
  }

  /** Opens an incident, or reopens the one that the same cause had within the last hour. */
  open({ rule, cause, severity, findings, splitFrom }: Opening): IncidentDraft {
    const [first] = findings
    if (!first) throw new Error('an incident opens with a finding')
    const since = findings.reduce((earliest, finding) => Math.min(earliest, finding.since), first.since)
    const { detail } = first
    const key = this.#keyOf({ rule, level: cause.level, causeId: cause.id }, detail)
    const hasEndedLately = ({ after }: IncidentDraft) => (after.causeEndedAt ?? 0) > this.#now - reopenWithinMs
    let draft = this.#findOf(rule, cause, detail, hasEndedLately)
    if (draft) {
      draft.reopen(this.#now, cause, since)
      draft.change({ detail, severity })
    } else {
      draft = this.#make({ rule, cause, severity, since, detail })
      this.#byCause.set(key, draft)
    }
    if (splitFrom !== undefined) draft.change({ splitFrom })
    for (const finding of findings) this.move(finding, draft)
    return draft
  }

  /** Adds the finding to an incident, and takes it out of the one that it was in. */
  move(finding: Finding, to: IncidentDraft): void {
    this.takeOut(finding)
    to.join(finding)
    this.#byFinding.set(findingKey(finding), to)
  }

  takeOut(finding: Finding): void {
    this.of(finding)?.leave(finding)
    this.#byFinding.delete(findingKey(finding))
  }

  /** Makes an incident a part of a larger one, which gets its findings. */
  merge(draft: IncidentDraft, into: IncidentDraft): void {
    const findings = [...draft.members.values()]
    draft.timeline.push('MERGED')
    draft.notify('incident.resolved')
    draft.change({ state: 'MERGED', mergedInto: into.after.id, resolvedAt: this.#now, causeEndedAt: this.#now })
    for (const finding of findings) this.move(finding, into)
  }

  get updates(): IncidentUpdate[] {
    return [...this.#drafts.values()].map(({ update }) => update).filter((update) => update !== undefined)
  }

  #make({ rule, cause, severity, since, detail }: Omit<Opening, 'findings'> & Pick<Finding, 'since' | 'detail'>) {
    const draft = new IncidentDraft(
      {
        id: -1 - this.#drafts.size,
        rule,
        severity,
        state: 'OPEN',
        level: cause.level,
        causeId: cause.id,
        causeName: cause.name,
        detail,
        since,
        openedAt: this.#now,
        resolvedAt: null,
        causeEndedAt: null,
        occurrences: 1,
        reopenings: [],
        flapping: false,
        mergedInto: null,
        splitFrom: null,
      },
      undefined,
      [],
    )
    draft.timeline.push('OPENED')
    draft.notify('incident.opened')
    this.#drafts.set(draft.after.id, draft)
    return draft
  }

  /**
   * Devices that work as a pair share an incident, and so do devices that rejected the same settings of a profile or a job, devices of a
   * location that slept for too long, and devices of a model that report the same fault. Each source of a gateway has an incident of its own.
   */
  #keyOf(
    { rule, level, causeId }: Pick<EngineIncident, 'rule' | 'level' | 'causeId'>,
    { keys = [], overslept, fault, source }: GroupDetail,
  ): string {
    const pair = rule === 'device.offline' && level === 'ENDPOINT' && this.#structure.endpoints.get(causeId)?.pairGroup
    const details = isGroupedByKey(level) ? [...keys].sort() : []
    const parts = [overslept ?? false, fault?.code, source?.id]
    return JSON.stringify([rule, level, pair ? `pair ${pair}` : causeId, ...parts, ...details])
  }
}

/** Rejected settings of a profile or a job are grouped by setting too. A job that was stopped has none. */
export const isGroupedByKey = (level: Cause['level']): boolean => level === 'PROFILE' || level === 'JOB'

/**
 * A person has closed an incident for the subjects that it has. Others that a model, a profile, a job or a location gets later open another one:
 * a single device that stays wrong would hide all of them for ever.
 */
const isClosedForOthers = ({ rule, state, causeEndedAt }: EngineIncident): boolean =>
  rule !== 'device.offline' && state === 'RESOLVED' && causeEndedAt === null

/** An incident that lasts is continued; else the one that ended last. */
function isBetter(a: EngineIncident, b: EngineIncident): boolean {
  const end = ({ causeEndedAt }: EngineIncident) => causeEndedAt ?? Number.POSITIVE_INFINITY
  return end(a) === end(b) ? a.id > b.id : end(a) > end(b)
}
