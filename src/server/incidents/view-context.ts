// Reads the names and counts that incidents are shown with, in a few queries for all incidents of an answer.
import { endpointLabel, modelLabel } from '../../contract/fleet/endpoint-label.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { OrgReader } from '../db/handles.ts'
import { findOwnOrg } from '../journal/orgs/store.ts'
import { defaultRules, readRulesInForce } from './incident-rules/in-force.ts'
import {
  countEndpointsInRooms,
  type IncidentRow,
  type LocationOfMessage,
  listAssignees,
  listEndpointNames,
  listEndpointNamesOfMessages,
  listLatestNotes,
  listLocationNames,
  listLocationsOfMessages,
  type SubjectRow,
  type TimelineRow,
} from './store.ts'
import { maxNamedDevices } from './texts.ts'
import type { IncidentViewContext } from './visible-part.ts'

interface ShownParts {
  readonly timeline?: readonly Pick<TimelineRow, 'user_id'>[]
  /** How many subjects of each incident are shown with their names. */
  readonly maxNamed: number
}

export async function readViewContext(
  ctx: RequestContext,
  on: OrgReader,
  incidents: readonly IncidentRow[],
  subjects: readonly SubjectRow[],
  { timeline = [], maxNamed }: ShownParts,
): Promise<IncidentViewContext> {
  const users = [...incidents.map((incident) => incident.assignee_id), ...timeline.map((entry) => entry.user_id)]
  const assignees = [...new Set(users)].filter((id) => id !== null)
  const people = assignees.length > 0 ? await listAssignees(on, { ids: assignees }) : []
  const visible = subjects.filter((subject) => on.access.sees(subject.region_id))
  const locations = locationsOf(visible)
  const names = locations.length > 0 ? await listLocationNames(on, { ids: locations }) : []
  const endpoints = namedEndpoints(incidents, visible, maxNamed)
  const devices = endpoints.length > 0 ? await listEndpointNames(on, { ids: endpoints }) : []
  // Where nothing is named, no text is shown.
  const notes =
    incidents.length > 0 && maxNamed > 0 ? await listLatestNotes(on, { incidents: incidents.map(({ id }) => id) }) : []
  return {
    ...(on.access.isEverything ? wholeIncidents(ctx.org.id) : await readPartFacts(ctx.org.id, on, incidents, subjects)),
    locationNames: new Map(names.map(({ id, name }) => [id, name])),
    endpointNames: shownNames(devices),
    assigneeNames: namesOf(people),
    latestNotes: new Map(notes.map((note) => [note.incident_id, note])),
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
  incident: IncidentRow,
  subjects: readonly SubjectRow[],
  now: number,
): Promise<MessageContext> {
  const { assignee_id } = incident
  const people = assignee_id === null ? [] : await listAssignees(on, { ids: [assignee_id] })
  const ids = locationsOf(subjects)
  const locations = ids.length > 0 ? await listLocationsOfMessages(on, { ids }) : []
  const endpoints = namedEndpoints([incident], subjects, maxNamedDevices)
  const devices = endpoints.length > 0 ? await listEndpointNamesOfMessages(on, { ids: endpoints }) : []
  return {
    ...wholeIncidents(''),
    locationNames: new Map(locations.map(({ id, name }) => [id, name])),
    endpointNames: shownNames(devices),
    assigneeNames: namesOf(people),
    latestNotes: new Map(),
    now,
    locations: new Map(locations.map((location) => [location.id, location])),
    timezone: (await findOwnOrg(on))?.timezone ?? 'UTC',
  }
}

/** The endpoints whose names are shown: the first subjects of each incident, of which the title names some, and its cause. */
function namedEndpoints(
  incidents: readonly IncidentRow[],
  subjects: readonly SubjectRow[],
  maxNamed: number,
): readonly string[] {
  const byIncident = Map.groupBy(subjects, (subject) => subject.incident_id)
  const first = [...byIncident.values()].flatMap((ofIncident) => ofIncident.slice(0, maxNamed))
  const ids = first.filter((subject) => subject.subject_type === 'endpoint').map((subject) => subject.subject_id)
  return [...new Set([...ids, ...incidents.flatMap(({ level, cause_id }) => (level === 'ENDPOINT' ? cause_id : []))])]
}

const shownNames = (devices: Awaited<ReturnType<typeof listEndpointNames>>): IncidentViewContext['endpointNames'] =>
  new Map(
    devices.map((device) => {
      const isOnlyOne = device.room_id !== null && !device.has_twin
      const inRoom = isOnlyOne ? modelLabel(device) : undefined
      return [
        device.id,
        { label: endpointLabel(device), ...(inRoom !== undefined && { inRoom, roomId: device.room_id }) },
      ]
    }),
  )

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
