// Makes the message for channels about an incident, of the engine and of people. [contract 10.delivery]
import type { ChannelEvent } from '../../../contract/incidents/messages.ts'
import type { Severity } from '../../../contract/incidents/rule-table.ts'
import { RegionAccess } from '../../core/region-access.ts'
import type { MessageDraft } from '../channels/outbox.ts'
import type { IncidentRow, SubjectRow } from './store.ts'
import { incidentView } from './view.ts'
import type { IncidentViewContext } from './visible-part.ts'

/** `subjects` are all subjects of the incident. */
export const incidentMessage = (
  type: ChannelEvent,
  incident: IncidentRow,
  subjects: readonly SubjectRow[],
  viewContext: IncidentViewContext,
): MessageDraft => ({
  type,
  orderKey: `incident ${incident.id}`,
  incidentId: incident.id,
  at: viewContext.now,
  // A channel that got the incident while it was worse also gets its changes and its end.
  severity: type === 'incident.changed' || type === 'incident.resolved' ? worstSeverity(incident) : incident.severity,
  ...placesOf(subjects),
  // A failing channel gets no messages about its own failure: they would arrive after it works again.
  ...(incident.level === 'CHANNEL' && { exceptChannel: Number(incident.cause_id) }),
  data: { incident: incidentView(incident, subjects, RegionAccess.everything, viewContext) },
})

/** An incident of the organisation as a whole, of one of its channels, or of a job in several regions concerns all places, which an empty list means. */
export function placesOf(subjects: readonly SubjectRow[]): Pick<MessageDraft, 'regionIds' | 'locationIds'> {
  const inPlaces = subjects.filter(
    ({ subject_type: type, region_id }) =>
      type !== 'organisation' && type !== 'channel' && !(type === 'job' && region_id === null),
  )
  return {
    regionIds: [...new Set(inPlaces.map((subject) => subject.region_id))],
    locationIds: [...new Set(inPlaces.map((subject) => subject.location_id))],
  }
}

/** The worst severity that the incident has had since it opened. */
export const worstSeverity = ({ detail, severity }: Pick<IncidentRow, 'detail' | 'severity'>): Severity =>
  JSON.parse(detail).worstSeverity ?? severity
