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

interface IncidentPage {
  readonly org: number
  readonly rooms: readonly number[]
  readonly afterRoom: number
  readonly afterIncident: number
  readonly afterType: string
  readonly afterSubject: string
  readonly limit: number
}

/**
 * A page of all incidents of rooms, with each of their subjects there. The calling code chooses among them: so each page reads so many rows at
 * most, however many are of another time.
 */
export const listIncidentsOfRooms = wholeQuery((db, p: IncidentPage, engine) =>
  db
    .selectFrom('incident_subjects as s')
    .innerJoin('incidents as i', (j) => j.onRef('i.org', '=', 's.org').onRef('i.id', '=', 's.incident_id'))
    .select(['s.room_id', 's.incident_id', 's.subject_type', 's.subject_id', 's.since', 's.ended_at'])
    .select(['i.severity', 'i.opened_at', 'i.resolved_at', 'i.reopenings'])
    .where('s.org', '=', p.org)
    .where(isAnyNumberOf(engine, 's.room_id', p.rooms))
    .where(
      sql<boolean>`(s.room_id, s.incident_id, s.subject_type, s.subject_id) > (${p.afterRoom}, ${p.afterIncident}, ${p.afterType}, ${p.afterSubject})`,
    )
    .orderBy('s.room_id')
    .orderBy('s.incident_id')
    .orderBy('s.subject_type')
    .orderBy('s.subject_id')
    .limit(p.limit),
)
export type RoomIncidentRow = Awaited<ReturnType<typeof listIncidentsOfRooms>>[number]
