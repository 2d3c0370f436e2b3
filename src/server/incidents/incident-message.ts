// Makes the message for channels about an incident, of the engine and of people. [contract 10.delivery]
import type { AssignmentContent, ChannelEvent, NamedPlace } from '../../contract/channels/messages.ts'
import type { Severity } from '../../contract/incidents/rule-table.ts'
import { oneLine } from '../../contract/words.ts'
import { RegionAccess } from '../core/region-access.ts'
import { localIsoTime } from '../core/time/local-time.ts'
import { assignmentOrderKey, incidentOrderKey, type MessageDraft } from '../journal/outbox/outbox.ts'
import type { IncidentRow, SubjectRow } from './store.ts'
import { incidentView } from './view.ts'
import type { MessageContext } from './view-context.ts'

/** `subjects` are all subjects of the incident. */
export const incidentMessage = (
  type: ChannelEvent,
  incident: IncidentRow,
  subjects: readonly SubjectRow[],
  context: MessageContext,
): MessageDraft => ({
  type,
  orderKey: incidentOrderKey(incident.id),
  incidentId: incident.id,
  at: context.now,
  rule: incident.rule,
  // A channel that got the incident while it was worse also gets its changes and its end.
  severity: type === 'incident.changed' || type === 'incident.resolved' ? worstSeverity(incident) : incident.severity,
  ...placesOf(subjects),
  // A failing channel gets no messages about its own failure: they would arrive after it works again.
  ...(incident.level === 'CHANNEL' && { exceptChannel: Number(incident.cause_id) }),
  data: {
    incident: incidentView(incident, subjects, RegionAccess.everything, context),
    places: namedPlacesOf(subjects, incident.since, context),
  },
})

/** The person who gets a message. */
export interface MessageRecipient {
  readonly id: number
  readonly address: string
  /** The message shows only what the person sees. */
  readonly access: RegionAccess
}

/**
 * Makes the message to the new assignee. `subjects` are those that the assignee sees. Its order key is its own: a mailbox that refuses mail
 * does not hold what others are told.
 */
export const assignmentMessage = (
  incident: IncidentRow,
  subjects: readonly SubjectRow[],
  context: MessageContext,
  { recipient, by }: { readonly recipient: MessageRecipient; readonly by: string },
): MessageDraft => {
  const message = incidentMessage('incident.assigned', incident, subjects, context)
  const told: AssignmentContent = { recipient: { address: recipient.address }, assignedBy: { name: by } }
  return {
    ...message,
    orderKey: assignmentOrderKey(incident.id, recipient.id),
    data: { ...message.data, ...told },
  }
}

/** A message names at most this many places. `roomIds` and the other lists of ids have all. */
const maxNamedPlaces = 20

/** The rooms of the subjects that are still affected, of all if none is, with the names of their locations and regions, and the local time. */
function namedPlacesOf(subjects: readonly SubjectRow[], since: number, context: MessageContext): NamedPlace[] {
  const open = subjects.filter((subject) => subject.ended_at === null)
  const places = new Map<string, NamedPlace>()
  for (const { room_id, room_name, location_id, region_id } of open.length > 0 ? open : subjects) {
    if (places.size >= maxNamedPlaces) break
    const key = `${room_id} ${location_id} ${region_id}`
    if (places.has(key) || (room_id === null && location_id === null && region_id === null)) continue
    const location = location_id === null ? undefined : context.locations.get(location_id)
    const timezone = location?.timezone ?? context.timezone
    places.set(key, {
      ...(room_id !== null && { roomId: room_id, roomName: oneLine(room_name ?? '') }),
      ...(location_id !== null && { locationId: location_id }),
      ...(location && { locationName: oneLine(location.name) }),
      ...(region_id !== null && { regionId: region_id }),
      // The location can be in another region than when the subject joined.
      ...(location &&
        location.regionId === region_id &&
        location.regionName !== null && { regionName: oneLine(location.regionName) }),
      timezone,
      localSince: localIsoTime(since, timezone),
    })
  }
  return [...places.values()]
}

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
