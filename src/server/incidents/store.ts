// Holds the SQL of incidents, of their subjects and of their timelines.

import { type Kysely, type Selectable, sql } from 'kysely'
import type { EngineName } from '../db/engine.ts'
import type { OrgReader } from '../db/handles.ts'
import { isAnyNumberOf, isAnyOf } from '../db/queries/any-of.ts'
import {
  visibleQuery,
  visibleQueryOne,
  wholeQuery,
  write,
  writeAny,
  writeOne,
  writeTelemetry,
} from '../db/queries/query.ts'
import { queryVariants } from '../db/queries/variants.ts'
import type { DatabaseSchema } from '../db/schema/schema.ts'

export type IncidentRow = Omit<Selectable<DatabaseSchema['incidents']>, 'org'>
export type SubjectRow = Omit<Selectable<DatabaseSchema['incident_subjects']>, 'org'>
export type TimelineRow = Omit<Selectable<DatabaseSchema['incident_timeline']>, 'org' | 'incident_id'>

type IncidentKey = { org: number; id: number }

export const incidentColumns = [
  'i.id',
  'i.version',
  'i.rule',
  'i.severity',
  'i.state',
  'i.level',
  'i.cause_id',
  'i.cause_name',
  'i.detail',
  'i.since',
  'i.opened_at',
  'i.updated_at',
  'i.resolved_at',
  'i.cause_ended_at',
  'i.occurrences',
  'i.reopenings',
  'i.flapping',
  'i.acknowledged_by',
  'i.acknowledged_at',
  'i.assignee_id',
  'i.snoozed_until',
  'i.snoozed_until_cleared',
  'i.merged_into',
  'i.split_from',
] as const

/** A caller sees an incident if one of its subjects is visible. [contract 10.states] */
export const findIncident = visibleQueryOne('incident', 'i.id', (db, p: IncidentKey) =>
  db.selectFrom('incidents as i').select(incidentColumns).where('i.org', '=', p.org).where('i.id', '=', p.id),
)

/** For callers who see every region. */
export const listIncidentsById = wholeQuery((db, p: { org: number; ids: readonly number[] }, engine) =>
  db
    .selectFrom('incidents as i')
    .select(incidentColumns)
    .where('i.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'i.id', p.ids)),
)

/** The conditions of a list. Those that are undefined do not limit it. */
export interface IncidentConditions {
  readonly states?: readonly IncidentRow['state'][] | undefined
  readonly rule?: string | undefined
  readonly severity?: string | undefined
  readonly assignee?: number | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly resolvedFrom?: number | undefined
  readonly region?: number | undefined
  readonly location?: number | undefined
  readonly room?: number | undefined
  readonly endpoint?: string | undefined
}
interface IncidentPage {
  /** The answer has only incidents with a smaller id. */
  readonly before: number
  readonly limit: number
}
type ListValues = { org: number; visible: readonly number[] } & IncidentPage & {
    readonly [K in keyof IncidentConditions]-?: NonNullable<IncidentConditions[K]>
  }

const subjectFilters = ['region', 'location', 'room', 'endpoint'] as const
const incidentFilters = [
  'states',
  'rule',
  'severity',
  'assignee',
  'from',
  'to',
  'resolvedFrom',
  ...subjectFilters,
  'visible',
] as const

/** The list with the given conditions, latest first. A subject that the caller does not see meets none of them. */
const listWith = queryVariants(incidentFilters, (given) =>
  visibleQuery('incident', 'i.id', (db, p: ListValues, engine) => {
    let list = db.selectFrom('incidents as i').select(incidentColumns).where('i.org', '=', p.org)
    list = list.where('i.id', '<', p.before).orderBy('i.id', 'desc').limit(p.limit)
    if (given.has('states')) list = list.where(isAnyOf(engine, 'i.state', p.states))
    if (given.has('rule')) list = list.where('i.rule', '=', p.rule as IncidentRow['rule'])
    if (given.has('severity')) list = list.where('i.severity', '=', p.severity as IncidentRow['severity'])
    if (given.has('assignee')) list = list.where('i.assignee_id', '=', p.assignee)
    if (given.has('from')) list = list.where('i.opened_at', '>=', p.from)
    if (given.has('to')) list = list.where('i.opened_at', '<', p.to)
    if (given.has('resolvedFrom')) list = list.where('i.resolved_at', '>=', p.resolvedFrom)
    if (!subjectFilters.some((name) => given.has(name))) return list
    return list.where('i.id', 'in', (q) => {
      let subjects = q.selectFrom('incident_subjects as s').select('s.incident_id').where('s.org', '=', p.org)
      if (given.has('region')) subjects = subjects.where('s.region_id', '=', p.region)
      if (given.has('location')) subjects = subjects.where('s.location_id', '=', p.location)
      if (given.has('room')) subjects = subjects.where('s.room_id', '=', p.room)
      if (given.has('endpoint')) {
        subjects = subjects.where('s.subject_type', '=', 'endpoint').where('s.subject_id', '=', p.endpoint)
      }
      return given.has('visible') ? subjects.where(isAnyNumberOf(engine, 's.region_id', p.visible)) : subjects
    })
  }),
)

/** Lists incidents that the caller sees, latest first. */
export function listIncidents(on: OrgReader, filter: IncidentConditions, page: IncidentPage): Promise<IncidentRow[]> {
  const values = { ...filter, visible: on.access.regionIds }
  const list = listWith(incidentFilters.filter((name) => values[name] !== undefined))
  // Conditions that are not given have no parameter in their query.
  return list(on, { ...values, ...page } as ListValues)
}

/** Lists all subjects of incidents, those that are still affected first. The view leaves out what its caller does not see. */
export const listSubjects = wholeQuery((db, p: { org: number; incidents: readonly number[] }, engine) =>
  db
    .selectFrom('incident_subjects as s')
    .select(['s.incident_id', 's.subject_type', 's.subject_id', 's.name', 's.room_id', 's.room_name'])
    .select(['s.location_id', 's.region_id', 's.since', 's.ended_at'])
    .where('s.org', '=', p.org)
    .where(isAnyNumberOf(engine, 's.incident_id', p.incidents))
    .orderBy((e) => e.case().when('s.ended_at', 'is', null).then(0).else(1).end())
    .orderBy('s.since')
    .orderBy('s.subject_id'),
)

/** Lists the latest entries, newest first. Their texts name no subject. */
export const listTimeline = wholeQuery((db, p: { org: number; incident: number; limit: number }) =>
  db
    .selectFrom('incident_timeline as t')
    .select(['t.number', 't.at', 't.kind', 't.actor_type', 't.actor_id', 't.actor_name', 't.text', 't.user_id'])
    .where('t.org', '=', p.org)
    .where('t.incident_id', '=', p.incident)
    .orderBy('t.number', 'desc')
    .limit(p.limit),
)

const noteKinds = ['COMMENT', 'ACKNOWLEDGED', 'UNACKNOWLEDGED', 'RESOLVED'] as const

/** Lists the latest note of each incident: a comment, or what a person wrote beside an action. Notes name no subject. */
export const listLatestNotes = wholeQuery((db, p: { org: number; incidents: readonly number[] }, engine) =>
  db
    .selectFrom('incident_timeline as t')
    .select(['t.incident_id', 't.at', 't.actor_name', 't.text'])
    .where('t.org', '=', p.org)
    .where((e) =>
      e(
        e.refTuple('t.incident_id', 't.number'),
        'in',
        e
          .selectFrom('incident_timeline as n')
          .select((s) => ['n.incident_id', s.fn.max('n.number').as('number')])
          .where('n.org', '=', p.org)
          .where(isAnyNumberOf(engine, 'n.incident_id', p.incidents))
          .where('n.kind', 'in', noteKinds)
          .where('n.text', 'is not', null)
          .groupBy('n.incident_id')
          .$asTuple('incident_id', 'number'),
      ),
    ),
)
export type LatestNoteRow = Awaited<ReturnType<typeof listLatestNotes>>[number]

/** Counts the endpoints that are in each of the rooms and were ever connected. */
export const countEndpointsInRooms = visibleQuery(
  'room',
  'e.room_id',
  (db, p: { org: number; rooms: readonly number[] }, engine) =>
    db
      .selectFrom('endpoints as e')
      .select((s) => ['e.room_id as room', s.fn.countAll<number | string>().as('count')])
      .where('e.org', '=', p.org)
      .where(isAnyNumberOf(engine, 'e.room_id', p.rooms))
      .where('e.connection_time', 'is not', null)
      .groupBy('e.room_id'),
)

export const listLocationNames = visibleQuery(
  'region',
  'l.region_id',
  (db, p: { org: number; ids: readonly number[] }, engine) =>
    db
      .selectFrom('locations as l')
      .select(['l.id', 'l.name'])
      .where('l.org', '=', p.org)
      .where(isAnyNumberOf(engine, 'l.id', p.ids)),
)

/** A device has a twin if its room has another one of the same model. */
const endpointNames = (db: Kysely<DatabaseSchema>, p: { org: number; ids: readonly string[] }, engine: EngineName) =>
  db
    .selectFrom('endpoints as e')
    .select(['e.id', 'e.name', 'e.model', 'e.serial', 'e.room_id'])
    .select((e) =>
      e
        .exists(
          e
            .selectFrom('endpoints as o')
            .select('o.id')
            .whereRef('o.org', '=', 'e.org')
            .whereRef('o.room_id', '=', 'e.room_id')
            .whereRef('o.model', '=', 'e.model')
            .whereRef('o.id', '<>', 'e.id'),
        )
        .as('has_twin'),
    )
    .where('e.org', '=', p.org)
    .where(isAnyOf(engine, 'e.id', p.ids))

/** Lists the present names of those endpoints that the caller sees. */
export const listEndpointNames = visibleQuery('room', 'e.room_id', endpointNames)

/** Lists the present names of endpoints, whichever regions the caller sees: a message is sent whole. */
export const listEndpointNamesOfMessages = wholeQuery(endpointNames)

/** Lists what messages say about locations, whichever regions the caller sees: a message is sent whole. */
export const listLocationsOfMessages = wholeQuery((db, p: { org: number; ids: readonly number[] }, engine) =>
  db
    .selectFrom('locations as l')
    .leftJoin('regions as g', (j) => j.onRef('g.org', '=', 'l.org').onRef('g.id', '=', 'l.region_id'))
    .select(['l.id', 'l.name', 'l.timezone', 'l.region_id as regionId', 'g.name as regionName'])
    .where('l.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'l.id', p.ids)),
)
export type LocationOfMessage = Awaited<ReturnType<typeof listLocationsOfMessages>>[number]

/** Lists those of the users that the caller sees. */
export const listAssignees = visibleQuery('user', 'u.id', (db, p: { org: number; ids: readonly number[] }, engine) =>
  db
    .selectFrom('users as u')
    .select(['u.id', 'u.name', 'u.email'])
    .where('u.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'u.id', p.ids)),
)

/** On PostgreSQL the lock makes people and the engine, which is not audited, take turns. SQLite has one writer at a time anyway. */
export const lockIncident = writeOne((db, p: IncidentKey, engine) =>
  db
    .selectFrom('incidents as i')
    .select(incidentColumns)
    .where('i.org', '=', p.org)
    .where('i.id', '=', p.id)
    .$if(engine === 'postgres', (q) => q.forUpdate()),
)

/** Keeps the engine and people from changing the incidents before the transaction ends, so the messages show the incident as it is at the commit. */
export const lockIncidentsForShare = writeTelemetry((db, p: { org: number; ids: readonly number[] }, engine) =>
  db
    .selectFrom('incidents as i')
    .select(incidentColumns)
    .where('i.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'i.id', p.ids))
    .orderBy('i.id')
    .$if(engine === 'postgres', (q) => q.forShare()),
)

type ActionValues = Pick<
  IncidentRow,
  | 'version'
  | 'state'
  | 'updated_at'
  | 'resolved_at'
  | 'acknowledged_by'
  | 'acknowledged_at'
  | 'assignee_id'
  | 'snoozed_until'
  | 'snoozed_until_cleared'
>
/** Writes the columns that people change. */
export const updateIncident = write((db, p: IncidentKey & ActionValues) =>
  db
    .updateTable('incidents')
    .set({
      version: p.version,
      state: p.state,
      updated_at: p.updated_at,
      resolved_at: p.resolved_at,
      acknowledged_by: p.acknowledged_by,
      acknowledged_at: p.acknowledged_at,
      assignee_id: p.assignee_id,
      snoozed_until: p.snoozed_until,
      snoozed_until_cleared: p.snoozed_until_cleared,
    })
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

/** Appends to the timeline. The row of the incident must have been locked or written before, so that no number is used twice. */
export const insertTimelineEntry = writeAny((db, p: { org: number; incident: number } & Omit<TimelineRow, 'number'>) =>
  db.insertInto('incident_timeline').values((e) => ({
    org: p.org,
    incident_id: p.incident,
    number: e
      .selectFrom('incident_timeline as t')
      .select(sql<number>`coalesce(max(t.number), 0) + 1`.as('number'))
      .where('t.org', '=', p.org)
      .where('t.incident_id', '=', p.incident),
    at: p.at,
    kind: p.kind,
    actor_type: p.actor_type,
    actor_id: p.actor_id,
    actor_name: p.actor_name,
    text: p.text,
    user_id: p.user_id,
  })),
)
