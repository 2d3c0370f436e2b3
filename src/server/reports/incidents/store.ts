// SQL of the report of incidents: the incidents of a window with their visible subjects, and the names of places and models.
import { isAnyNumberOf, isAnyOf } from '../../db/queries/any-of.ts'
import { visibleQuery, wholeQuery } from '../../db/queries/query.ts'

/** A page of the incidents that opened in a window, in the order of their ids. Times are in milliseconds. */
export const listIncidentsOpened = visibleQuery(
  'incident',
  'i.id',
  (db, p: { org: number; from: number; to: number; after: number; limit: number }) =>
    db
      .selectFrom('incidents as i')
      .select(['i.id', 'i.rule', 'i.severity', 'i.state', 'i.level', 'i.cause_id', 'i.cause_name'])
      .select(['i.opened_at', 'i.resolved_at', 'i.acknowledged_at'])
      .where('i.org', '=', p.org)
      .where('i.id', '>', p.after)
      .where('i.opened_at', '>=', p.from)
      .where('i.opened_at', '<', p.to)
      .where('i.state', '<>', 'MERGED')
      .orderBy('i.id')
      .limit(p.limit),
)
export type OpenedIncident = Awaited<ReturnType<typeof listIncidentsOpened>>[number]

/** Subjects keep the place that they had when they joined. */
export const listSubjectPlaces = visibleQuery(
  'region',
  's.region_id',
  (db, p: { org: number; incidents: readonly number[] }, engine) =>
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
      .where(isAnyNumberOf(engine, 's.incident_id', p.incidents))
      .orderBy('s.incident_id')
      .orderBy('s.subject_type')
      .orderBy('s.subject_id'),
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
