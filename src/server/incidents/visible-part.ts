// Cuts an incident down to the subjects that a caller sees: cause, severity and counts are then of these only. [contract 10.states]
import { models } from '../../contract/device/models.ts'
import { endpointLabel } from '../../contract/fleet/endpoint-label.ts'
import type { Severity } from '../../contract/incidents/rule-table.ts'
import type { RegionAccess } from '../core/region-access.ts'
import type { Cause } from './engine/types.ts'
import type { IncidentRow, LatestNoteRow, SubjectRow } from './store.ts'

/** The names and counts with which the visible part of an incident is shown. */
export interface IncidentViewContext {
  readonly org: { readonly id: string; readonly name: string }
  /** The visible locations, by id. */
  readonly locationNames: ReadonlyMap<number, string>
  /** The present names of visible endpoints, by id, as far as the incident is shown with them. */
  readonly endpointNames: ReadonlyMap<string, ShownName>
  /** The number of endpoints in each room that were ever connected. */
  readonly endpointCounts: ReadonlyMap<number, number>
  /** The severity that the rule `device.offline` sets: the visible part of a larger incident has it. */
  readonly offlineSeverity: Severity
  readonly assigneeNames: ReadonlyMap<number, string>
  /** The latest note of each incident that has one. Messages show none. */
  readonly latestNotes: ReadonlyMap<number, LatestNoteRow>
  /** A snooze that ended before is not shown. */
  readonly now: number
}

interface ShownName {
  readonly label: string
  /** The model, in words, of a device that has no name and is the only one of its model in its room. */
  readonly inRoom?: string
  readonly roomId?: number | null
}

export interface VisiblePart {
  readonly subjects: readonly SubjectRow[]
  /** The subjects that are still affected; all, if none is. */
  readonly current: readonly SubjectRow[]
  /** True if the caller does not see some of the subjects. */
  readonly isPartial: boolean
  readonly cause: Cause
  readonly severity: Severity
  readonly since: number
}

export function visiblePartOf(
  incident: IncidentRow,
  all: readonly SubjectRow[],
  access: RegionAccess,
  viewContext: IncidentViewContext | undefined,
): VisiblePart {
  const visible = access.isEverything ? all : all.filter((subject) => access.sees(subject.region_id))
  const subjects = visible.map((subject) => withPresentName(subject, viewContext))
  const isPartial = subjects.length < all.length
  const open = subjects.filter((subject) => subject.ended_at === null)
  const current = open.length > 0 ? open : subjects
  const cause = causeOf(incident, subjects)
  if (!isPartial || !viewContext) {
    return { subjects, current, isPartial, cause, severity: incident.severity, since: incident.since }
  }
  return {
    subjects,
    current,
    isPartial,
    cause: visibleCauseOf(cause, current, viewContext),
    severity: severityOf(incident, current, viewContext),
    since: Math.min(...subjects.map((subject) => subject.since)),
  }
}

/** A device that was removed, or moved to where the caller does not see it, keeps the name that it had when it joined. */
function withPresentName(subject: SubjectRow, viewContext: IncidentViewContext | undefined): SubjectRow {
  if (subject.subject_type !== 'endpoint') return subject
  const name = viewContext?.endpointNames.get(subject.subject_id)?.label ?? storedLabel(subject.name)
  return name === subject.name ? subject : { ...subject, name }
}

/** Version 0.2 stored the code of the model and the serial number: "NF21F1 NF1JWSL00042000". */
function storedLabel(name: string): string {
  const [, model = '', serial = ''] = /^(\S+) (\S+)$/.exec(name) ?? []
  return Object.hasOwn(models, model) ? endpointLabel({ model, serial }) : name
}

/** A device that is the cause is a subject too, and has the same name. */
function causeOf({ level, cause_id: id, cause_name }: IncidentRow, subjects: readonly SubjectRow[]): Cause {
  const device = level === 'ENDPOINT' ? subjects.find(({ subject_id }) => subject_id === id) : undefined
  return { level, id, name: device?.name ?? cause_name }
}

/** A pair of devices in two regions is named by the first device; a caller who does not see that one sees the other. */
function visibleCauseOf(cause: Cause, current: readonly SubjectRow[], viewContext: IncidentViewContext): Cause {
  if (isPlace(cause.level)) return smallestCauseOf(current, viewContext)
  const isHidden = cause.level === 'ENDPOINT' && current.every(({ subject_id }) => subject_id !== cause.id)
  const [first] = current
  return isHidden && first ? { level: 'ENDPOINT', id: first.subject_id, name: first.name } : cause
}

/** Models, profiles and jobs are in no place, so they are shown to callers who see any of their devices. */
const isPlace = (level: Cause['level']): boolean => level === 'ROOM' || level === 'LOCATION' || level === 'ORGANISATION'

/** The smallest thing that contains all of the subjects. */
function smallestCauseOf(subjects: readonly SubjectRow[], { org, locationNames }: IncidentViewContext): Cause {
  const [first] = subjects
  if (first && subjects.length === 1 && first.subject_type === 'endpoint') {
    return { level: 'ENDPOINT', id: first.subject_id, name: first.name }
  }
  if (first?.room_id != null && subjects.every((subject) => subject.room_id === first.room_id)) {
    return { level: 'ROOM', id: String(first.room_id), name: first.room_name ?? first.name }
  }
  const location = first?.location_id ?? undefined
  const locationName = location === undefined ? undefined : locationNames.get(location)
  if (locationName !== undefined && subjects.every((subject) => subject.location_id === location)) {
    return { level: 'LOCATION', id: String(location), name: locationName }
  }
  return { level: 'ORGANISATION', id: org.id, name: org.name }
}

/** Only the severity of offline devices depends on how many there are: a room without any device left is critical. */
function severityOf(
  { rule, severity }: IncidentRow,
  subjects: readonly SubjectRow[],
  { endpointCounts, offlineSeverity }: IncidentViewContext,
): Severity {
  if (rule !== 'device.offline' || severity !== 'CRITICAL') return severity
  const offlineByRoom = Map.groupBy(subjects, (subject) => subject.room_id)
  const isWholeRoomOffline = [...offlineByRoom].some(
    ([room, offline]) => room !== null && offline.length >= (endpointCounts.get(room) ?? 0),
  )
  return isWholeRoomOffline ? 'CRITICAL' : offlineSeverity
}
