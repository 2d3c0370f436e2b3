// Carries out the operations that read incidents, one function for each. [contract 10.states]
import { type IncidentState, openStates } from '../../contract/incidents/states.ts'
import { int32 } from '../../contract/shape.ts'
import type { InputOf } from '../context/handlers.ts'
import type { RequestContext } from '../context/request-context.ts'
import { mustFind, refuseReversed } from '../core/failure.ts'
import { parseInt32 } from '../core/int32.ts'
import { cutPage, logPageSizeOf, pageContext, positionOfPageToken } from '../core/page-token.ts'
import { isUuid } from '../core/uuid.ts'
import type { OrgReader } from '../db/handles.ts'
import { findUser } from '../people/users/store.ts'
import {
  findIncident,
  type IncidentConditions,
  type IncidentRow,
  listIncidents,
  listIncidentsById,
  listSubjects,
  listTimeline,
  type SubjectRow,
} from './store.ts'
import { maxNamedDevices } from './texts.ts'
import { incidentAnswer, incidentView, maxShownEntries, maxShownSubjects } from './view.ts'
import { readViewContext } from './view-context.ts'

type Query = InputOf<'incidentsList'>['query']

export async function incidentsList(ctx: RequestContext, query: Query) {
  const { from, to, pageSize, pageToken = '' } = query
  refuseReversed({ from, to })
  const size = logPageSizeOf(pageSize)
  const { pageSize: _, pageToken: __, ...conditions } = query
  const context = pageContext(ctx, 'incidents', JSON.stringify(Object.entries(conditions).sort()))
  const before = pageToken === '' ? int32.maximum : positionOfPageToken(ctx.secrets, context, pageToken).seq
  const assignee = await assigneeOf(ctx, query.assigneeId)
  if (assignee === 'unknown' || (query.endpointId !== undefined && !isUuid(query.endpointId))) {
    return { incidents: [], nextPageToken: '' }
  }

  const filter = filterOf(query, assignee, ctx.access.isEverything)
  const rows = await listIncidents(ctx.db, filter, { before, limit: size + 1 })
  const { page, nextPageToken } = cutPage(ctx.secrets, context, rows, size, ({ id }) => ({ timestamp: 0, seq: id }))
  const views = await viewsOf(ctx, page)
  return {
    // A caller who sees a part of an incident may see a lower severity than the row has.
    incidents: views.filter(({ severity }) => query.severity === undefined || severity === query.severity),
    nextPageToken,
  }
}

/** An assignee that the caller does not see is answered like one that does not exist. */
async function assigneeOf(
  { db }: RequestContext,
  requested: string | undefined,
): Promise<number | undefined | 'unknown'> {
  if (requested === undefined) return undefined
  const id = parseInt32(requested)
  return id !== undefined && (await findUser(db, { id })) ? id : 'unknown'
}

const filterOf = (query: Query, assignee: number | undefined, seesEverything: boolean): IncidentConditions => ({
  states: statesOf(query.state),
  rule: query.rule,
  severity: seesEverything ? query.severity : undefined,
  assignee,
  from: query.from,
  to: query.to,
  resolvedFrom: query.resolvedFrom,
  region: query.regionId,
  location: query.locationId,
  room: query.roomId,
  endpoint: query.endpointId,
})

function statesOf(state: Query['state'] = 'open'): readonly IncidentState[] | undefined {
  if (state === 'all') return undefined
  return state === 'open' ? openStates : [state]
}

async function viewsOf(ctx: RequestContext, incidents: readonly IncidentRow[]) {
  if (incidents.length === 0) return []
  const subjects = await listSubjects(ctx.db, { incidents: incidents.map(({ id }) => id) })
  const viewContext = await readViewContext(ctx, ctx.db, incidents, subjects, { maxNamed: maxNamedDevices })
  const byIncident = Map.groupBy(subjects, (subject) => subject.incident_id)
  return incidents.map((incident) => incidentView(incident, byIncident.get(incident.id) ?? [], ctx.access, viewContext))
}

/** Reads the titles of incidents for a caller who manages the organisation, and so sees every region. */
export async function titlesOfIncidents(
  ctx: RequestContext,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const incidents = ids.length > 0 ? await listIncidentsById(ctx.db, { ids }) : []
  return new Map((await viewsOf(ctx, incidents)).map(({ id, title }) => [Number(id), title]))
}

export async function incidentsGet(ctx: RequestContext, incidentId: string) {
  return readIncidentAnswer(ctx, ctx.db, await requireIncident(ctx.db, incidentId))
}

export async function requireIncident(on: OrgReader, incidentId: string): Promise<IncidentRow> {
  const id = parseInt32(incidentId)
  return mustFind(id === undefined ? undefined : await findIncident(on, { id }), `incident ${incidentId}`)
}

/** Reads the rest of an incident, also in the transaction that has just changed it. */
export async function readIncidentAnswer(
  ctx: RequestContext,
  on: OrgReader,
  incident: IncidentRow,
  known?: readonly SubjectRow[],
) {
  const subjects = known ?? (await listSubjects(on, { incidents: [incident.id] }))
  const timeline = await listTimeline(on, { incident: incident.id, limit: maxShownEntries })
  const viewContext = await readViewContext(ctx, on, [incident], subjects, { timeline, maxNamed: maxShownSubjects })
  return incidentAnswer(incident, subjects, timeline, on.access, viewContext)
}
