// Reads the names and counts that incidents are shown with, in a few queries for all incidents of an answer.
import type { RequestContext } from '../context/request-context.ts'
import type { OrgReader } from '../db/handles.ts'
import { findOwnOrg } from '../journal/orgs/store.ts'
import { defaultRules, readRulesInForce } from './incident-rules/in-force.ts'
import {
  countEndpointsInRooms,
  type IncidentRow,
  type LocationOfMessage,
  listAssignees,
  listLocationNames,
  listLocationsOfMessages,
  type SubjectRow,
  type TimelineRow,
} from './store.ts'
import type { IncidentViewContext } from './visible-part.ts'

export async function readViewContext(
  ctx: RequestContext,
  on: OrgReader,
  incidents: readonly IncidentRow[],
  subjects: readonly SubjectRow[],
  timeline: readonly Pick<TimelineRow, 'user_id'>[] = [],
): Promise<IncidentViewContext> {
  const users = [...incidents.map((incident) => incident.assignee_id), ...timeline.map((entry) => entry.user_id)]
  const assignees = [...new Set(users)].filter((id) => id !== null)
  const people = assignees.length > 0 ? await listAssignees(on, { ids: assignees }) : []
  const locations = locationsOf(subjects.filter((subject) => on.access.sees(subject.region_id)))
  const names = locations.length > 0 ? await listLocationNames(on, { ids: locations }) : []
  return {
    ...(on.access.isEverything ? wholeIncidents(ctx.org.id) : await readPartFacts(ctx.org.id, on, incidents, subjects)),
    locationNames: new Map(names.map(({ id, name }) => [id, name])),
    assigneeNames: namesOf(people),
    now: ctx.clock.now(),
  }
}

/** The context for messages, which show an incident as it appears to a caller who sees all regions. */
export interface MessageContext extends IncidentViewContext {
  readonly locations: ReadonlyMap<number, LocationOfMessage>
  /** The organisation's time zone, for locations that have none. */
  readonly timezone: string
}

export async function readMessageContext(
  on: OrgReader,
  { assignee_id }: IncidentRow,
  subjects: readonly SubjectRow[],
  now: number,
): Promise<MessageContext> {
  const people = assignee_id === null ? [] : await listAssignees(on, { ids: [assignee_id] })
  const ids = locationsOf(subjects)
  const locations = ids.length > 0 ? await listLocationsOfMessages(on, { ids }) : []
  return {
    ...wholeIncidents(''),
    locationNames: new Map(locations.map(({ id, name }) => [id, name])),
    assigneeNames: namesOf(people),
    now,
    locations: new Map(locations.map((location) => [location.id, location])),
    timezone: (await findOwnOrg(on))?.timezone ?? 'UTC',
  }
}

const locationsOf = (subjects: readonly SubjectRow[]): number[] =>
  [...new Set(subjects.map((subject) => subject.location_id))].filter((id) => id !== null)

const namesOf = (people: Awaited<ReturnType<typeof listAssignees>>): ReadonlyMap<number, string> =>
  new Map(people.map(({ id, name, email }) => [id, name ?? email]))

type PartFacts = Pick<IncidentViewContext, 'org' | 'endpointCounts' | 'offlineSeverity'>

/** Callers who see everything see incidents as they are. */
const wholeIncidents = (id: string): PartFacts => ({
  org: { id, name: '' },
  endpointCounts: new Map(),
  offlineSeverity: defaultRules['device.offline'].severity,
})

async function readPartFacts(
  orgId: string,
  on: OrgReader,
  incidents: readonly IncidentRow[],
  subjects: readonly SubjectRow[],
): Promise<PartFacts> {
  const isVisible = (subject: SubjectRow) => on.access.sees(subject.region_id)
  const partial = new Set(subjects.filter((subject) => !isVisible(subject)).map((subject) => subject.incident_id))
  const offline = new Set(incidents.filter(({ rule }) => rule === 'device.offline').map(({ id }) => id))
  const shown = subjects.filter((subject) => partial.has(subject.incident_id) && isVisible(subject))
  const roomsOf = shown.filter((subject) => offline.has(subject.incident_id)).map((subject) => subject.room_id)
  const rooms = [...new Set(roomsOf)].filter((id) => id !== null)
  return {
    org: { id: orgId, name: (await findOwnOrg(on))?.name ?? '' },
    offlineSeverity: (partial.size > 0 ? await readRulesInForce(on) : defaultRules)['device.offline'].severity,
    endpointCounts: new Map(
      rooms.length > 0
        ? (await countEndpointsInRooms(on, { rooms })).map(({ room, count }) => [room as number, Number(count)])
        : [],
    ),
  }
}
