// Shows incidents as the API answers them, cut to what the caller sees. [contract 10.states]
import { hash } from 'node:crypto'
import type { Static } from 'typebox'
import { type Incident, type IncidentWithSubjects, maxShownNoteCharacters } from '../../contract/incidents/incidents.ts'
import { VersionedAnswer } from '../context/answers.ts'
import { isoTime } from '../core/clock.ts'
import type { RegionAccess } from '../core/region-access.ts'
import { shortened } from '../core/text.ts'
import type { FindingDetail } from './engine/types.ts'
import { distinctIds } from './incident-event.ts'
import { readingsOf } from './readings.ts'
import type { IncidentRow, LatestNoteRow, SubjectRow, TimelineRow } from './store.ts'
import { hintOf, type TitledIncident, type TitledSubject, titleOf } from './texts.ts'
import { type IncidentViewContext, type VisiblePart, visiblePartOf } from './visible-part.ts'

export type IncidentView = Static<typeof Incident>
type IncidentPerson = NonNullable<IncidentView['acknowledgedBy']>

/** A single incident has at most this many subjects and entries of its timeline. */
export const maxShownSubjects = 200
export const maxShownEntries = 200

/** `subjects` are all subjects of the incident. */
export function incidentView(
  incident: IncidentRow,
  subjects: readonly SubjectRow[],
  access: RegionAccess,
  viewContext?: IncidentViewContext,
): IncidentView {
  return viewOf(incident, visiblePartOf(incident, subjects, access, viewContext), viewContext)
}

/** The ETag has a hash of what changes without a new version: names, also in the title, the end of a snooze, and counts that an incident is shown with. */
export function incidentAnswer(
  incident: IncidentRow,
  all: readonly SubjectRow[],
  timeline: readonly TimelineRow[],
  access: RegionAccess,
  viewContext: IncidentViewContext,
): VersionedAnswer<Static<typeof IncidentWithSubjects>> {
  const part = visiblePartOf(incident, all, access, viewContext)
  const view = viewOf(incident, part, viewContext)
  const body = {
    ...view,
    subjects: part.subjects.slice(0, maxShownSubjects).map(subjectView),
    timeline: timeline.map((entry) => entryView(entry, viewContext)).reverse(),
  }
  const names = [...body.subjects.map(({ name }) => name), ...body.timeline.map(({ text }) => text)]
  return new VersionedAnswer(incident.version, body, hash('sha1', JSON.stringify([view, names]), 'base64url'))
}

function viewOf(incident: IncidentRow, part: VisiblePart, viewContext: IncidentViewContext | undefined): IncidentView {
  const { subjects, current, cause, severity, since } = part
  const detail: FindingDetail = JSON.parse(incident.detail)
  const locationName = (id: number) => viewContext?.locationNames.get(id)
  const shown = part.isPartial ? withoutFaultText(detail) : detail
  const nameInRoom = ({ subject_id, room_id }: TitledSubject) => {
    const name = viewContext?.endpointNames.get(subject_id)
    return name?.roomId === room_id ? name.inRoom : undefined
  }
  const facts: TitledIncident = {
    rule: incident.rule,
    cause,
    detail: shown,
    subjects: current,
    locationName,
    nameInRoom,
  }
  const readings = part.isPartial ? [] : readingsOf(detail)
  const assigneeName = incident.assignee_id === null ? undefined : viewContext?.assigneeNames.get(incident.assignee_id)
  const snoozedUntil = snoozeOf(incident, viewContext?.now)
  const note = viewContext?.latestNotes.get(incident.id)
  return {
    id: String(incident.id),
    rule: incident.rule,
    severity,
    state: incident.state,
    title: titleOf(facts),
    hint: hintOf(facts),
    cause,
    ...(readings.length > 0 && { readings }),
    since: isoTime(since),
    openedAt: isoTime(incident.opened_at),
    updatedAt: isoTime(incident.updated_at),
    ...(incident.resolved_at !== null && { resolvedAt: isoTime(incident.resolved_at) }),
    occurrences: incident.occurrences,
    ...(incident.reopenings !== '[]' && { reopenings: JSON.parse(incident.reopenings).map(isoTime) }),
    flapping: incident.flapping === 1,
    ...(incident.acknowledged_by !== null && { acknowledgedBy: JSON.parse(incident.acknowledged_by) }),
    ...(incident.acknowledged_at !== null && { acknowledgedAt: isoTime(incident.acknowledged_at) }),
    ...(assigneeName !== undefined && { assignee: { id: String(incident.assignee_id), name: assigneeName } }),
    ...(snoozedUntil !== undefined && { snoozedUntil }),
    ...(note && { latestNote: noteView(note) }),
    ...(incident.merged_into !== null && { mergedInto: String(incident.merged_into) }),
    ...(incident.split_from !== null && { splitFrom: String(incident.split_from) }),
    roomIds: distinctIds(current.map((subject) => subject.room_id)),
    locationIds: distinctIds(current.map((subject) => subject.location_id)),
    regionIds: distinctIds(current.map((subject) => subject.region_id)),
    subjectCount: subjects.length,
    openSubjectCount: subjects.filter((subject) => subject.ended_at === null).length,
  }
}

/** A device that the caller does not see may have reported the text. */
const withoutFaultText = ({ fault, ...detail }: FindingDetail): FindingDetail =>
  fault ? { ...detail, fault: { code: fault.code } } : detail

function snoozeOf(incident: IncidentRow, now: number | undefined): string | undefined {
  if (incident.snoozed_until_cleared === 1) return 'cleared'
  if (incident.snoozed_until === null || (now !== undefined && incident.snoozed_until <= now)) return undefined
  return isoTime(incident.snoozed_until)
}

const noteView = ({ at, actor_name, text }: LatestNoteRow) => ({
  at: isoTime(at),
  author: actor_name ?? '',
  text: shortened(text ?? '', maxShownNoteCharacters),
})

const subjectView = (subject: SubjectRow) => ({
  type: subject.subject_type,
  id: subject.subject_id,
  name: subject.name,
  ...(subject.room_id !== null && { roomId: subject.room_id }),
  ...(subject.room_name !== null && { roomName: subject.room_name }),
  since: isoTime(subject.since),
  ...(subject.ended_at !== null && { endedAt: isoTime(subject.ended_at) }),
})

/** An entry about a user names that user to callers who see them. */
function entryView(entry: TimelineRow, { assigneeNames }: IncidentViewContext) {
  const { at, kind, actor_type, actor_id, actor_name, user_id } = entry
  const text = entry.text ?? (user_id === null ? undefined : assigneeNames.get(user_id))
  return {
    at: isoTime(at),
    kind,
    ...(actor_type !== null && {
      actor: { type: actor_type as IncidentPerson['type'], id: actor_id ?? '', name: actor_name ?? '' },
    }),
    ...(text !== undefined && { text }),
  }
}
