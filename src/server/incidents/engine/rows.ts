// Turns findings, incidents and subjects into rows of their tables, and back.

import type { IncidentRow, SubjectRow } from '../store.ts'
import type { FindingRow } from './engine-store.ts'
import type { AffectedSubject, EngineIncident } from './grouping/incident-drafts.ts'
import { placeOfSubject } from './places.ts'
import type { Finding, Structure, Subject } from './types.ts'

/** Keeps the columns that people write, but a reopened incident is not acknowledged, and the end of the cause ends a snooze. */
export function rowOf(
  incident: EngineIncident,
  id: number,
  ids: ReadonlyMap<number, number>,
  before: IncidentRow | undefined,
  now: number,
): IncidentRow {
  const { state, causeEndedAt, mergedInto, splitFrom } = incident
  const storedId = (given: number | null) => (given === null ? null : (ids.get(given) ?? given))
  const isOver = causeEndedAt !== null
  return {
    id,
    version: (before?.version ?? 0) + 1,
    rule: incident.rule,
    severity: incident.severity,
    state,
    level: incident.level,
    cause_id: incident.causeId,
    cause_name: incident.causeName,
    detail: JSON.stringify(incident.detail),
    since: incident.since,
    opened_at: incident.openedAt,
    updated_at: now,
    resolved_at: incident.resolvedAt,
    cause_ended_at: causeEndedAt,
    occurrences: incident.occurrences,
    reopenings: JSON.stringify(incident.reopenings),
    flapping: incident.flapping ? 1 : 0,
    acknowledged_by: state === 'OPEN' ? null : (before?.acknowledged_by ?? null),
    acknowledged_at: before?.acknowledged_at ?? null,
    assignee_id: before?.assignee_id ?? null,
    snoozed_until: isOver ? null : (before?.snoozed_until ?? null),
    snoozed_until_cleared: isOver ? 0 : (before?.snoozed_until_cleared ?? 0),
    merged_into: storedId(mergedInto),
    split_from: storedId(splitFrom),
  }
}

export const engineIncident = (row: IncidentRow): EngineIncident => ({
  id: row.id,
  rule: row.rule,
  severity: row.severity,
  state: row.state,
  level: row.level,
  causeId: row.cause_id,
  causeName: row.cause_name,
  detail: JSON.parse(row.detail),
  since: row.since,
  openedAt: row.opened_at,
  resolvedAt: row.resolved_at,
  causeEndedAt: row.cause_ended_at,
  occurrences: row.occurrences,
  reopenings: JSON.parse(row.reopenings),
  flapping: row.flapping === 1,
  mergedInto: row.merged_into,
  splitFrom: row.split_from,
})

export const findingRow = ({
  rule,
  subject,
  since,
  maturedAt,
  clearSince,
  incidentId,
  detail,
}: Finding): FindingRow => ({
  rule,
  subject_type: subject.type,
  subject_id: storedSubjectId(subject),
  since,
  matured_at: maturedAt,
  clear_since: clearSince,
  incident_id: incidentId,
  detail: JSON.stringify(detail),
})

export const findingOfRow = (row: FindingRow): Finding => ({
  rule: row.rule,
  subject: { type: row.subject_type, ...subjectIdOf(row.subject_id) },
  since: row.since,
  maturedAt: row.matured_at,
  clearSince: row.clear_since,
  incidentId: row.incident_id,
  detail: JSON.parse(row.detail),
})

/** JSON, because PostgreSQL stores no text with the character 0, which a device can report. */
const storedSubjectId = ({ id, part }: Subject): string => (part === undefined ? id : `${id} ${JSON.stringify(part)}`)

/** An id has no spaces. */
function subjectIdOf(stored: string): Pick<Subject, 'id' | 'part'> {
  const end = stored.indexOf(' ')
  return end < 0 ? { id: stored } : { id: stored.slice(0, end), part: JSON.parse(stored.slice(end + 1)) }
}

export function subjectOf(
  structure: Structure,
  { subject, since, detail }: AffectedSubject,
  incidentId: number,
): SubjectRow {
  const { room, location } = placeOfSubject(structure, subject)
  const endpoint = subject.type === 'endpoint' ? structure.endpoints.get(subject.id) : undefined
  const name = endpoint?.name ?? (subject.type === 'room' ? room?.name : undefined)
  return {
    incident_id: incidentId,
    subject_type: subject.type,
    subject_id: subject.id,
    name: name ?? detail.job?.name ?? (subject.type === 'organisation' ? structure.orgName : subject.id),
    room_id: room?.id ?? null,
    room_name: room?.name ?? null,
    location_id: room?.locationId ?? detail.job?.locationId ?? null,
    region_id: location?.regionId ?? detail.job?.regionId ?? null,
    since,
    ended_at: null,
  }
}
