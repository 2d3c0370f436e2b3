// Finds the largest cause of devices that are offline: the organisation, a location, a gateway, a room, a pair of devices or one device. [contract 10.cause]

import { minuteMs } from '../../../../contract/durations.ts'
import type { CauseLevel } from '../../../../contract/incidents/incidents.ts'
import { placeOfSubject } from '../places.ts'
import type { Cause, Finding, Structure } from '../types.ts'
import type { DraftSet } from './draft-set.ts'
import type { GroupingInput } from './grouping-input.ts'
import type { IncidentDraft } from './incident-drafts.ts'
import { isPartOf, type Outage, Outages } from './outages.ts'

const rule = 'device.offline'
/** A larger incident ends when it is no longer one of the whole place, and nothing came back for this long. */
const splitAfterMs = 2 * minuteMs
const levels: readonly CauseLevel[] = ['ENDPOINT', 'ROOM', 'GATEWAY', 'LOCATION', 'ORGANISATION']

/** A finding that is in no incident yet, and the larger incident that it was split from. */
interface Ungrouped {
  readonly finding: Finding
  /** An incident for it may open only at a level below this one. */
  readonly below: CauseLevel | undefined
  readonly splitFrom: number | undefined
}

export function groupOffline(drafts: DraftSet, input: GroupingInput): void {
  const { findings, structure } = input
  const own = findings.filter((finding) => finding.rule === rule)
  const ungrouped = own
    .filter((finding) => finding.maturedAt !== null && !drafts.of(finding))
    .map((finding): Ungrouped => ({ finding, below: undefined, splitFrom: undefined }))
  const hasLarger = [...drafts].some((d) => d.after.rule === rule && d.isLasting && d.after.level !== 'ENDPOINT')
  if (ungrouped.length === 0 && !hasLarger) return
  const offline = new Map(input.justOffline)
  for (const { subject, since, maturedAt, clearSince, detail } of own) {
    const isOutage = !detail.overslept && detail.hiddenBy === undefined
    if (maturedAt !== null && clearSince === null && isOutage) offline.set(subject.id, since)
  }
  const grouping = new OfflineGrouping(drafts, input, new Outages(structure, offline, input.leftOut))
  grouping.openAfterRestarts(own)
  const split = grouping.splitEnded()
  grouping.group([...ungrouped, ...split].filter(({ finding }) => !drafts.of(finding)))
}

class OfflineGrouping {
  readonly #drafts: DraftSet
  readonly #input: GroupingInput
  readonly #outages: Outages

  constructor(drafts: DraftSet, input: GroupingInput, outages: Outages) {
    this.#drafts = drafts
    this.#input = input
    this.#outages = outages
  }

  /** Opens one incident of the organisation for the devices that a restart has lost. [contract 10.start] */
  openAfterRestarts(findings: readonly Finding[]): void {
    for (const { at, node, connectedBefore, missing } of this.#input.failedRestarts) {
      const lost = findings.filter((f) => f.maturedAt !== null && missing.has(f.subject.id) && !this.#drafts.of(f))
      const [first] = lost
      if (!first) continue
      const began = lost.reduce((earliest, { since }) => Math.min(earliest, since), first.since)
      const restart = { at, connectedBefore, ...(node !== undefined && { node }) }
      const lasting = this.#drafts.findLasting(rule, this.#organisation)
      if (lasting) for (const finding of lost) this.#drafts.move(finding, lasting)
      else this.#open(this.#organisation, lost, undefined).changeDetail({ began, restart })
    }
  }

  /**
   * Resolves incidents of places that are no longer offline as a whole, and returns their remaining findings. If a person resolved the
   * incident before, its findings stay in it, and later ones do not join it. Silenced findings stay in the incident, which stays open for
   * them: a split would open incidents during the silence. [contract 10.silence]
   */
  splitEnded(): Ungrouped[] {
    const { now, isSilenced } = this.#input
    return [...this.#drafts].flatMap((draft) => {
      const { rule: ruleId, level, id, detail } = draft.after
      if (ruleId !== rule || level === 'ENDPOINT' || !draft.isLasting || draft.members.size === 0) return []
      if (detail.outageEndedAt !== undefined || detail.overslept) return []
      if (this.#lasts(draft)) {
        if (detail.endingSince !== undefined) draft.change({ detail: withoutEnding(detail) })
        return []
      }
      const returned = [...draft.members.values(), ...draft.left.values()].map(({ clearSince }) => clearSince ?? 0)
      const lastReturn = returned.reduce((latest, at) => Math.max(latest, at), 0)
      const endingSince = Math.max(detail.endingSince ?? (lastReturn || now), lastReturn)
      if (now - endingSince < splitAfterMs) {
        if (endingSince !== detail.endingSince) draft.changeDetail({ endingSince })
        return []
      }
      if (!draft.isOpen) {
        draft.change({ detail: { ...withoutEnding(detail), outageEndedAt: now } })
        return []
      }
      const rest = [...draft.members.values()].filter((finding) => !isSilenced(finding))
      for (const finding of rest) this.#drafts.takeOut(finding)
      if (draft.members.size === 0) {
        draft.timeline.push('SPLIT')
        draft.change({ detail: withoutEnding(detail) })
        draft.resolve(now)
      }
      return rest.map((finding) => ({ finding, below: level, splitFrom: id }))
    })
  }

  group(ungrouped: readonly Ungrouped[]): void {
    const [overslept, others] = [true, false].map((is) =>
      ungrouped.filter(({ finding }) => (finding.detail.overslept ?? false) === is),
    ) as [Ungrouped[], Ungrouped[]]
    for (const { finding } of overslept) this.#joinOverslept(finding)
    const toGroup = others.filter((one) => !this.#joinLarger(one))
    this.#openOutage(toGroup, this.#organisation, () => this.#outages.findInOrganisation())
    for (const [locationId, ones] of Map.groupBy(toGroup, ({ finding }) => this.#placeOf(finding).locationId)) {
      const location = this.#input.structure.locations.get(locationId ?? Number.NaN)
      if (!location) continue
      const cause: Cause = { level: 'LOCATION', id: String(location.id), name: location.name }
      this.#openOutage(ones, cause, () => this.#outages.findInLocation(location.id))
    }
    for (const one of toGroup) {
      if (this.#drafts.of(one.finding)) continue
      const gateway = this.#gatewayOf(one.finding)
      if (gateway === undefined) this.#openSmall(one)
      else this.#joinGateway(one, gateway)
    }
  }

  /** The gateway that is offline, for its own finding and for those of its devices. */
  #gatewayOf({ subject, detail }: Finding): string | undefined {
    return detail.hiddenBy ?? (this.#input.structure.gateways.has(subject.id) ? subject.id : undefined)
  }

  #joinGateway({ finding, splitFrom }: Ungrouped, id: string): void {
    const cause: Cause = { level: 'GATEWAY', id, name: this.#input.structure.endpoints.get(id)?.name ?? '' }
    const lasting = this.#drafts.findLasting(rule, cause)
    if (lasting) this.#drafts.move(finding, lasting)
    else this.#open(cause, [finding], splitFrom)
  }

  /** Devices of a location that slept for too long share an incident, which is never an outage. */
  #joinOverslept(finding: Finding): void {
    const { structure } = this.#input
    const location = structure.locations.get(this.#placeOf(finding).locationId ?? Number.NaN)
    const cause: Cause = location
      ? { level: 'LOCATION', id: String(location.id), name: location.name }
      : { level: 'ENDPOINT', id: finding.subject.id, name: structure.endpoints.get(finding.subject.id)?.name ?? '' }
    const lasting = this.#drafts.findLasting(rule, cause, finding.detail)
    if (lasting) this.#drafts.move(finding, lasting)
    else this.#drafts.open({ rule, cause, severity: this.#input.rules[rule].severity, findings: [finding] })
  }

  /** Later findings join an incident of their organisation, location or room. */
  #joinLarger({ finding, below }: Ungrouped): boolean {
    const { room, locationId } = this.#placeOf(finding)
    const places: [CauseLevel, string | undefined][] = [
      ['ORGANISATION', this.#input.structure.orgId],
      ['LOCATION', locationId?.toString()],
      ['ROOM', room?.id.toString()],
    ]
    for (const [level, id] of places) {
      if (id === undefined || !isBelow(level, below)) continue
      if (level === 'ROOM' && this.#gatewayOf(finding) !== undefined) continue
      const draft = this.#drafts.findLasting(rule, { level, id, name: '' })
      if (!draft || (level !== 'ROOM' && !isPartOf(finding.since, draft.after.detail.began ?? draft.after.since)))
        continue
      this.#drafts.move(finding, draft)
      return true
    }
    return false
  }

  /** Opens an incident for an outage that one of the findings is a part of. */
  #openOutage(candidates: readonly Ungrouped[], cause: Cause, find: () => Outage | undefined): void {
    const ones = candidates.filter(({ finding, below }) => isBelow(cause.level, below) && !this.#drafts.of(finding))
    if (ones.length === 0) return
    const outage = find()
    if (!outage) return
    const isHit = ({ finding }: Ungrouped) => outage.roomIds.has(this.#placeOf(finding).room?.id ?? Number.NaN)
    const parts = ones.filter(({ finding }) => isPartOf(finding.since, outage.since))
    // A device that was away long before its room says nothing about the outage, although its room is in it.
    if (!parts.some(isHit)) return
    const draft = this.#open(
      cause,
      parts.map(({ finding }) => finding),
      parts[0]?.splitFrom,
    )
    draft.changeDetail({ began: outage.since })
    this.#mergeInto(draft, (finding) => {
      const isInside = cause.level === 'ORGANISATION' || String(this.#placeOf(finding).locationId) === cause.id
      return isInside && isPartOf(finding.since, outage.since)
    })
  }

  /** A room without a connected device, else the pair of the device, else the device. */
  #openSmall({ finding, below, splitFrom }: Ungrouped): void {
    const { room } = this.#placeOf(finding)
    const isWhole = room && isBelow('ROOM', below) && this.#outages.roomSince(room.id) !== undefined
    const name = this.#input.structure.endpoints.get(finding.subject.id)?.name ?? ''
    const cause: Cause = isWhole
      ? { level: 'ROOM', id: String(room.id), name: room.name }
      : { level: 'ENDPOINT', id: finding.subject.id, name }
    const lasting = this.#drafts.findLasting(rule, cause)
    if (lasting) {
      this.#drafts.move(finding, lasting)
      return
    }
    const draft = this.#open(cause, [finding], splitFrom)
    if (!isWhole) return
    draft.changeDetail({ began: finding.since })
    this.#mergeInto(draft, (member) => this.#placeOf(member).room?.id === room.id)
  }

  #open(cause: Cause, findings: readonly Finding[], splitFrom: number | undefined): IncidentDraft {
    const isPart = cause.level === 'ENDPOINT' || cause.level === 'GATEWAY'
    const severity = isPart ? this.#input.rules[rule].severity : 'CRITICAL'
    return this.#drafts.open({ rule, cause, severity, findings, splitFrom })
  }

  /** Smaller open incidents become a part of a larger one if all of their findings are. */
  #mergeInto(larger: IncidentDraft, isInside: (finding: Finding) => boolean): void {
    for (const draft of this.#drafts) {
      if (draft.after.rule !== rule || !draft.isOpen || !isBelow(draft.after.level, larger.after.level)) continue
      if (draft.members.size > 0 && [...draft.members.values()].every(isInside)) this.#drafts.merge(draft, larger)
    }
  }

  #lasts({ after, members }: IncidentDraft): boolean {
    const { level, causeId, since, detail } = after
    const began = detail.began ?? since
    if (level === 'GATEWAY') return true
    if (level === 'ROOM') return this.#outages.roomSince(Number(causeId)) !== undefined
    if (level === 'LOCATION') return this.#outages.lastsInLocation(Number(causeId), began)
    if (!detail.restart) return this.#outages.lastsInOrganisation(began)
    const offline = [...members.values()].filter(({ clearSince }) => clearSince === null)
    return offline.length * 2 > detail.restart.connectedBefore
  }

  get #organisation(): Cause {
    const { orgId, orgName } = this.#input.structure
    return { level: 'ORGANISATION', id: orgId, name: orgName }
  }

  #placeOf(finding: Finding) {
    return placeOf(this.#input.structure, finding)
  }
}

function placeOf(structure: Structure, { subject }: Finding) {
  const { room } = placeOfSubject(structure, subject)
  return { room, locationId: room?.locationId ?? undefined }
}

const isBelow = (level: CauseLevel, than: CauseLevel | undefined): boolean =>
  than === undefined || levels.indexOf(level) < levels.indexOf(than)

const withoutEnding = ({ endingSince: _, ...detail }: IncidentDraft['after']['detail']) => detail
