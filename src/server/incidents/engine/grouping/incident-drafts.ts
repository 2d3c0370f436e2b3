// Collects what happens to incidents in one run: they open, reopen, get and lose subjects, merge and end. [contract 10.states]

import type { ChannelEvent } from '../../../../contract/channels/messages.ts'
import { dayMs, hourMs, minuteMs } from '../../../../contract/durations.ts'
import { type CauseLevel, maxShownReopenings, type TimelineKind } from '../../../../contract/incidents/incidents.ts'
import type { RuleId, Severity } from '../../../../contract/incidents/rule-table.ts'
import { type IncidentState, isOpenState } from '../../../../contract/incidents/states.ts'
import { findingKey } from '../findings.ts'
import type { Cause, Finding, FindingDetail, Subject } from '../types.ts'

/** A cause that comes back within this time reopens its incident. */
export const reopenWithinMs = hourMs
/** From this many reopenings in 24 hours on an incident is flapping. */
const flappingReopenings = 3
/** Times of reopenings are stored for this long: the work list counts those of the last 7 days. */
const rememberedMs = 7 * dayMs
/** A flapping incident that did not change for this long is flapping no more. */
const quietMs = hourMs
/** Subjects may join and leave every second during an outage. The timeline gets one entry for this time, and channels one message. */
const entryGapMs = minuteMs

/** The detail of its findings, with what the engine itself remembers. */
export interface IncidentDetail extends FindingDetail {
  /** When the outage of a room, location or organisation began. */
  readonly began?: number
  /** Since when the outage is no longer one of the whole room, location or organisation. */
  readonly endingSince?: number
  /** When the outage of an incident that a person had resolved ended, although some of its devices are still offline. */
  readonly outageEndedAt?: number
  /** The worst severity since it opened, if that is not the present one. */
  readonly worstSeverity?: Severity
  /** When the timeline last got an entry about subjects that joined. */
  readonly joinedAt?: number
  /** When the timeline last got an entry about subjects that left. */
  readonly leftAt?: number
  /** Subjects have joined since then. */
  readonly hasJoinedSince?: true
  /** The restart after which devices did not come back: when, the node if others went on, and how many there were. */
  readonly restart?: { readonly at: number; readonly node?: string; readonly connectedBefore: number }
}

/** An incident as the engine knows it. One that is not stored yet has a negative id. */
export interface EngineIncident {
  readonly id: number
  readonly rule: RuleId
  readonly severity: Severity
  readonly state: IncidentState
  readonly level: CauseLevel
  readonly causeId: string
  readonly causeName: string
  readonly detail: IncidentDetail
  readonly since: number
  readonly openedAt: number
  readonly resolvedAt: number | null
  /** Null while the cause lasts, also after a person resolved the incident. */
  readonly causeEndedAt: number | null
  readonly occurrences: number
  readonly reopenings: readonly number[]
  readonly flapping: boolean
  readonly mergedInto: number | null
  readonly splitFrom: number | null
}

export type AffectedSubject = Pick<Finding, 'subject' | 'since' | 'detail'>

/** Everything that happened to one incident in a run. */
export interface IncidentUpdate {
  readonly before: EngineIncident | undefined
  readonly after: EngineIncident
  readonly joined: readonly Finding[]
  /** The subjects of these findings. A subject with several findings has the start of the first one. */
  readonly joinedSubjects: readonly AffectedSubject[]
  /** Subjects that have no finding in it any longer. */
  readonly leftSubjects: readonly Subject[]
  readonly timeline: readonly TimelineKind[]
  readonly messages: readonly ChannelEvent[]
  /** True if all subjects of the incident are silenced. Then only its end is queued for channels. */
  readonly isSilenced: boolean
}

/** One incident during a run. */
export class IncidentDraft {
  readonly before: EngineIncident | undefined
  after: EngineIncident
  /** The findings that it has now. */
  readonly members: Map<string, Finding>
  readonly joined = new Map<string, Finding>()
  readonly left = new Map<string, Finding>()
  readonly timeline: TimelineKind[] = []
  readonly messages = new Set<ChannelEvent>()
  isSilenced = false

  constructor(after: EngineIncident, before: EngineIncident | undefined, members: readonly Finding[]) {
    this.before = before
    this.after = after
    this.members = new Map(members.map((finding) => [findingKey(finding), finding]))
  }

  get isOpen(): boolean {
    return isOpenState(this.after.state)
  }

  /** True also for an incident that a person resolved while its cause goes on. */
  get isLasting(): boolean {
    return this.after.causeEndedAt === null && this.after.state !== 'MERGED'
  }

  change(changes: Partial<EngineIncident>): void {
    this.after = { ...this.after, ...changes }
  }

  changeDetail(changes: IncidentDetail): void {
    this.change({ detail: { ...this.after.detail, ...changes } })
  }

  /** Messages of a flapping incident are dropped. */
  notify(event: ChannelEvent): void {
    if (!this.after.flapping) this.messages.add(event)
  }

  /** A finding that joins, or another severity, may have to be sent to other channels. */
  get sendsMoreThanEnd(): boolean {
    const mayReachNewChannels = this.joined.size > 0 || this.before?.severity !== this.after.severity
    return mayReachNewChannels || [...this.messages].some((event) => event !== 'incident.resolved')
  }

  /** While all subjects are silenced, only the end of the incident is queued for channels; the delivery holds it until the silence ends. [contract 10.silence] */
  sendOnlyEnd(): void {
    this.isSilenced = true
    for (const event of this.messages) if (event !== 'incident.resolved') this.messages.delete(event)
  }

  areAllSilenced(isSilenced: (finding: Finding) => boolean): boolean {
    return this.members.size > 0 && [...this.members.values()].every(isSilenced)
  }

  join(finding: Finding): void {
    const key = findingKey(finding)
    this.members.set(key, finding)
    this.left.delete(key)
    this.joined.set(key, finding)
    if (finding.since < this.after.since) this.change({ since: finding.since })
  }

  leave(finding: Finding): void {
    const key = findingKey(finding)
    this.members.delete(key)
    if (!this.joined.delete(key)) this.left.set(key, finding)
  }

  /** Whether anything about it has changed in this run. */
  get isTouched(): boolean {
    const { before, after, joined, left, timeline, messages } = this
    return before !== after || joined.size + left.size + timeline.length + messages.size > 0
  }

  /** Notes that subjects have joined, now or since the last note. */
  noteJoined(now: number): void {
    const { joinedAt, hasJoinedSince, ...detail } = this.after.detail
    if (this.joined.size === 0 && !hasJoinedSince) return
    // The first minute of an incident is a part of its opening.
    if (now - (joinedAt ?? this.after.openedAt) < entryGapMs) {
      if (!hasJoinedSince) this.changeDetail({ hasJoinedSince: true })
      return
    }
    this.timeline.push('JOINED')
    this.notify('incident.changed')
    this.change({ detail: { ...detail, joinedAt: now } })
  }

  noteLeft(now: number): void {
    const { leftAt } = this.after.detail
    if (this.left.size === 0 || (leftAt !== undefined && now - leftAt < entryGapMs)) return
    this.timeline.push('LEFT')
    this.changeDetail({ leftAt: now })
  }

  resolve(now: number): void {
    this.timeline.push('RESOLVED')
    this.notify('incident.resolved')
    this.change({ state: 'RESOLVED', resolvedAt: now, causeEndedAt: now })
  }

  reopen(now: number, cause: Cause, since: number): void {
    const reopenings = [...this.after.reopenings.filter((at) => at > now - rememberedMs), now].slice(
      -maxShownReopenings,
    )
    const flapping = reopenings.filter((at) => at > now - dayMs).length >= flappingReopenings
    this.timeline.push('REOPENED')
    if (flapping && !this.after.flapping) this.timeline.push('FLAPPING')
    this.change({
      state: 'OPEN',
      causeId: cause.id,
      causeName: cause.name,
      since,
      resolvedAt: null,
      causeEndedAt: null,
      mergedInto: null,
      occurrences: this.after.occurrences + 1,
      reopenings,
      flapping,
    })
    this.messages.delete('incident.resolved')
    this.notify('incident.reopened')
  }

  /** Ends flapping after a quiet hour, and sends one message with the present state. */
  endFlapping(now: number): void {
    const { flapping, reopenings, causeEndedAt } = this.after
    if (!flapping || Math.max(reopenings.at(-1) ?? 0, causeEndedAt ?? 0) > now - quietMs) return
    this.change({ flapping: false })
    this.notify(this.isOpen ? 'incident.reopened' : 'incident.resolved')
  }

  get update(): IncidentUpdate | undefined {
    const { before, after, joined, timeline, messages, isSilenced } = this
    if (!this.isTouched) return undefined
    const subjects = this.#changedSubjects()
    return { before, after, joined: [...joined.values()], ...subjects, timeline, messages: [...messages], isSilenced }
  }

  #changedSubjects(): Pick<IncidentUpdate, 'joinedSubjects' | 'leftSubjects'> {
    if (this.joined.size + this.left.size === 0) return { joinedSubjects: [], leftSubjects: [] }
    const affected = new Map<string, Finding>()
    for (const finding of this.members.values()) {
      const { id } = finding.subject
      if (finding.since < (affected.get(id)?.since ?? Number.POSITIVE_INFINITY)) affected.set(id, finding)
    }
    const joined = new Set([...this.joined.values()].map(({ subject }) => subject.id))
    const left = new Map([...this.left.values()].map(({ subject }) => [subject.id, subject]))
    return {
      joinedSubjects: [...joined].flatMap((id) => affected.get(id) ?? []),
      leftSubjects: [...left.values()].filter(({ id }) => !affected.has(id)),
    }
  }
}
