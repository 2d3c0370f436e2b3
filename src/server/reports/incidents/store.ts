// SQL of the report of incidents: the incidents of a window with their visible subjects, and the names of places and models.
import { sql } from 'kysely'
import { isAnyNumberOf, isAnyOf } from '../../db/queries/any-of.ts'
import { visibleQuery, wholeQuery } from '../../db/queries/query.ts'

/** The next ids of incidents that opened in a window. What the caller may not see counts too, so each page reads so many rows at most. Times are in milliseconds. */
export const listOpenedIds = wholeQuery(
  (db, p: { org: number; to: number; afterTime: number; afterId: number; limit: number }) =>
    db
      .selectFrom('incidents')
      .select(['id', 'opened_at'])
      .where('org', '=', p.org)
      .where(({ eb, refTuple, tuple }) => eb(refTuple('opened_at', 'id'), '>', tuple(p.afterTime, p.afterId)))
      .where('opened_at', '<', p.to)
      .orderBy('opened_at')
      .orderBy('id')
      .limit(p.limit),
)

export const listIncidentsOpened = visibleQuery(
  'incident',
  'i.id',
  (db, p: { org: number; ids: readonly number[] }, engine) =>
    db
      .selectFrom('incidents as i')
      .select(['i.id', 'i.rule', 'i.severity', 'i.state', 'i.level', 'i.cause_id', 'i.cause_name'])
      .select(['i.opened_at', 'i.resolved_at', 'i.acknowledged_at'])
      .where('i.org', '=', p.org)
      .where(isAnyNumberOf(engine, 'i.id', p.ids))
      .where('i.state', '<>', 'MERGED')
      .orderBy('i.id'),
)
export type OpenedIncident = Awaited<ReturnType<typeof listIncidentsOpened>>[number]

interface SubjectPage {
  readonly org: number
  readonly afterIncident: number
  readonly afterType: string
  readonly afterId: string
  readonly lastIncident: number
  readonly limit: number
}

/** A page of the subjects of incidents whose ids follow each other: one outage can have thousands. Subjects keep the place that they had when they joined. */
export const listSubjectPlaces = visibleQuery('region', 's.region_id', (db, p: SubjectPage) =>
  db
    .selectFrom('incident_subjects as s')
    .select([
      's.incident_id',
      's.subject_type',
      's.subject_id',
      's.room_id',
      's.room_name',
      's.location_id',
      's.region_id',
    ])
    .where('s.org', '=', p.org)
    .where(
      sql<boolean>`(s.incident_id, s.subject_type, s.subject_id) > (${p.afterIncident}, ${p.afterType}, ${p.afterId})`,
    )
    .where('s.incident_id', '<=', p.lastIncident)
    .orderBy('s.incident_id')
    .orderBy('s.subject_type')
    .orderBy('s.subject_id')
    .limit(p.limit),
)
export type SubjectPlace = Awaited<ReturnType<typeof listSubjectPlaces>>[number]

export const listNamesOfLocations = visibleQuery(
  'location',
  'l.id',
  (db, p: { org: number; ids: readonly number[] }, engine) =>
    db
      .selectFrom('locations as l')
      .select(['l.id', 'l.name'])
      .where('l.org', '=', p.org)
      .where(isAnyNumberOf(engine, 'l.id', p.ids)),
)

export const listRegionNames = visibleQuery(
  'region',
  'r.id',
  (db, p: { org: number; ids: readonly number[] }, engine) =>
    db
      .selectFrom('regions as r')
      .select(['r.id', 'r.name'])
      .where('r.org', '=', p.org)
      .where(isAnyNumberOf(engine, 'r.id', p.ids)),
)

export const listRoomNames = visibleQuery('room', 'r.id', (db, p: { org: number; ids: readonly number[] }, engine) =>
  db
    .selectFrom('rooms as r')
    .select(['r.id', 'r.name'])
    .where('r.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'r.id', p.ids)),
)

/** The models of devices, which the caller has as subjects of incidents. */
export const listModels = wholeQuery((db, p: { org: number; ids: readonly string[] }, engine) =>
  db
    .selectFrom('endpoints')
    .select(['id', 'model'])
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'id', p.ids)),
)

/** The models that devices had when they left a room: some are gone. */
export const listFormerModels = wholeQuery((db, p: { org: number; ids: readonly string[] }, engine) =>
  db
    .selectFrom('endpoint_rooms')
    .select(['endpoint_id', 'model'])
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'endpoint_id', p.ids))
    .where('model', 'is not', null)
    .orderBy('endpoint_id')
    .orderBy('since'),
)
