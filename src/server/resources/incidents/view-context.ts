// Reads the names and counts that incidents are shown with, in a few queries for all incidents of an answer.
import type { RequestContext } from '../../context/request-context.ts'
import type { OrgReader } from '../../db/handles.ts'
import { defaultRules, readRulesInForce } from '../incident-rules/in-force.ts'
import { findOwnOrg } from '../orgs/store.ts'
import {
  countEndpointsInRooms,
  type IncidentRow,
  listAssignees,
  listLocationNames,
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
  return {
    ...(on.access.isEverything ? emptyNames(ctx.org.id) : await readVisibleNames(ctx.org.id, on, incidents, subjects)),
    assigneeNames: namesOf(people),
    now: ctx.clock.now(),
  }
}

/** The context for messages, which show an incident as it appears to a caller who sees all regions. */
export async function readUnrestrictedViewContext(
  on: OrgReader,
  { assignee_id }: IncidentRow,
  now: number,
): Promise<IncidentViewContext> {
  const people = assignee_id === null ? [] : await listAssignees(on, { ids: [assignee_id] })
  return { ...emptyNames(''), assigneeNames: namesOf(people), now }
}

const namesOf = (people: Awaited<ReturnType<typeof listAssignees>>): ReadonlyMap<number, string> =>
  new Map(people.map(({ id, name, email }) => [id, name ?? email]))

type VisibleNames = Pick<IncidentViewContext, 'org' | 'locationNames' | 'endpointCounts' | 'offlineSeverity'>

/** Callers who see everything see incidents as they are. */
const emptyNames = (id: string): VisibleNames => ({
  org: { id, name: '' },
  locationNames: new Map(),
  endpointCounts: new Map(),
  offlineSeverity: defaultRules['device.offline'].severity,
})

async function readVisibleNames(
  orgId: string,
  on: OrgReader,
  incidents: readonly IncidentRow[],
  subjects: readonly SubjectRow[],
): Promise<VisibleNames> {
  const isVisible = (subject: SubjectRow) => on.access.sees(subject.region_id)
  const partial = new Set(subjects.filter((subject) => !isVisible(subject)).map((subject) => subject.incident_id))
  const offline = new Set(incidents.filter(({ rule }) => rule === 'device.offline').map(({ id }) => id))
  const shown = subjects.filter((subject) => partial.has(subject.incident_id) && isVisible(subject))
  const locations = [...new Set(shown.map((subject) => subject.location_id))].filter((id) => id !== null)
  const roomsOf = shown.filter((subject) => offline.has(subject.incident_id)).map((subject) => subject.room_id)
  const rooms = [...new Set(roomsOf)].filter((id) => id !== null)
  return {
    org: { id: orgId, name: (await findOwnOrg(on))?.name ?? '' },
    offlineSeverity: (partial.size > 0 ? await readRulesInForce(on) : defaultRules)['device.offline'].severity,
    locationNames: new Map(
      locations.length > 0 ? (await listLocationNames(on, { ids: locations })).map(({ id, name }) => [id, name]) : [],
    ),
    endpointCounts: new Map(
      rooms.length > 0
        ? (await countEndpointsInRooms(on, { rooms })).map(({ room, count }) => [room as number, Number(count)])
        : [],
    ),
  }
}
