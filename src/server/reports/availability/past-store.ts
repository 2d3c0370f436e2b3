// SQL of the past of rooms that availability is counted from. The rooms are known to be visible: what was in them counts, wherever it is now.
import { sql } from 'kysely'
import type { EngineName } from '../../db/engine.ts'
import { isAnyNumberOf, isAnyOf } from '../../db/queries/any-of.ts'
import { wholeQuery } from '../../db/queries/query.ts'

const reportedKind = (engine: EngineName) =>
  sql<string | null>`${sql.raw(engine === 'postgres' ? `e.status::jsonb ->> 'kind'` : `e.status ->> '$.kind'`)}`

/** In Unix seconds. */
type Rooms = { org: number; rooms: readonly number[]; from: number; to: number }

/** The devices that were in rooms, with what they were: of a stay that lasts the row of the endpoint says it. */
export const listStaysInRooms = wholeQuery((db, p: Rooms, engine) =>
  db
    .selectFrom('endpoint_rooms as s')
    .leftJoin('endpoints as e', (j) => j.onRef('e.org', '=', 's.org').onRef('e.number', '=', 's.endpoint'))
    .select(['s.room_id', 's.endpoint', 's.endpoint_id', 's.since', 's.until'])
    .select([
      sql<string | null>`coalesce(s.serial, e.serial)`.as('serial'),
      sql<string | null>`coalesce(s.model, e.model)`.as('model'),
      sql<string | null>`case when s.serial is null then ${reportedKind(engine)} else s.reported_kind end`.as('kind'),
    ])
    .where('s.org', '=', p.org)
    .where(isAnyNumberOf(engine, 's.room_id', p.rooms))
    .where('s.since', '<', p.to)
    .where((e) => e.or([e('s.until', 'is', null), e('s.until', '>', p.from)]))
    .orderBy('s.room_id')
    .orderBy('s.endpoint')
    .orderBy('s.since'),
)
export type StayRow = Awaited<ReturnType<typeof listStaysInRooms>>[number]

/** The stays of endpoints by their ids. They say when an endpoint that is gone was deleted. */
export const listStaysOfIds = wholeQuery((db, p: { org: number; ids: readonly string[] }, engine) =>
  db
    .selectFrom('endpoint_rooms')
    .select(['endpoint_id', 'endpoint', 'since', 'until'])
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'endpoint_id', p.ids))
    .orderBy('endpoint')
    .orderBy('since'),
)

export const listEndpointNumbers = wholeQuery((db, p: { org: number; ids: readonly string[] }, engine) =>
  db
    .selectFrom('endpoints')
    .select(['id', 'number'])
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'id', p.ids)),
)

/** In milliseconds, as all times of the statements below. */
type Between = { org: number; from: number; to: number }

export const listSilencesBetween = wholeQuery((db, p: Between) =>
  db
    .selectFrom('silences')
    .select(['place_type', 'place_id', 'rules', 'since', 'until', 'weekly'])
    .where('org', '=', p.org)
    .where('since', '<', p.to)
    .where((e) => e.or([e('until', 'is', null), e('until', '>', p.from)]))
    .orderBy('id'),
)
export type PastSilenceRow = Awaited<ReturnType<typeof listSilencesBetween>>[number]

export const listChangeWindows = wholeQuery((db, p: { org: number; locations: readonly number[] }, engine) =>
  db
    .selectFrom('locations')
    .select(['id', 'change_window'])
    .where('org', '=', p.org)
    .where(isAnyNumberOf(engine, 'id', p.locations)),
)

/** The windows that locations had before, and until when. */
export const listFormerWindows = wholeQuery(
  (db, p: { org: number; locations: readonly number[]; from: number }, engine) =>
    db
      .selectFrom('former_change_windows')
      .select(['location_id', 'until', 'change_window'])
      .where('org', '=', p.org)
      .where(isAnyNumberOf(engine, 'location_id', p.locations))
      .where('until', '>', p.from)
      .orderBy('location_id')
      .orderBy('until'),
)

/** Devices of rooms that were affected by an incident of WARNING or worse. */
export const listImpairments = wholeQuery((db, p: Between & { rooms: readonly number[] }, engine) =>
  db
    .selectFrom('incident_subjects as s')
    .innerJoin('incidents as i', (j) => j.onRef('i.org', '=', 's.org').onRef('i.id', '=', 's.incident_id'))
    .select(['s.room_id', 's.since', 's.ended_at', 'i.opened_at', 'i.resolved_at', 'i.reopenings'])
    .where('s.org', '=', p.org)
    .where(isAnyNumberOf(engine, 's.room_id', p.rooms))
    .where('s.subject_type', '=', 'endpoint')
    .where('i.severity', '<>', 'INFO')
    .where('i.opened_at', '<', p.to)
    .where((e) => e.or([e('i.resolved_at', 'is', null), e('i.resolved_at', '>', p.from)]))
    .where((e) => e.or([e('s.ended_at', 'is', null), e('s.ended_at', '>', p.from)]))
    .orderBy('s.room_id')
    .orderBy('i.id')
    .orderBy('s.subject_id'),
)
export type ImpairmentRow = Awaited<ReturnType<typeof listImpairments>>[number]
