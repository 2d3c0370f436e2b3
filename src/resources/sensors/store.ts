// SQL of samples: their history, the latest of each endpoint, and the numbers that stand for endpoints in the history.
import { type Selectable, sql } from 'kysely'
import { byPlace } from '../../platform/db/by-place.ts'
import { nextId } from '../../platform/db/counter.ts'
import type { Engine, Reader, Telemetry } from '../../platform/db/db.ts'
import { query, queryOne } from '../../platform/db/query.ts'
import type { Schema } from '../../platform/db/schema.ts'
import { isUuid } from '../../platform/uuid.ts'

export type SampleRow = Omit<Selectable<Schema['samples_latest']>, 'org' | 'endpoint_id'>

const columns = [
  'timestamp',
  'co2',
  'humidity',
  'illumination',
  'people',
  'temp',
  'voc',
  'voc_index',
  'shutter_closed',
] as const satisfies readonly (keyof SampleRow)[]

type Endpoint = { org: number; id: string }

/** How much time shares a place in the history, in seconds. Rows hold the number of their slot: never change it. */
const slotLength = 300

/** The endpoint stays until the end of the transaction: whoever deletes it waits, or we see that it is gone. */
const numberAndLock = queryOne((db, p: Endpoint, engine) =>
  db
    .selectFrom('endpoints as e')
    .leftJoin('endpoint_numbers as n', (j) => j.onRef('n.org', '=', 'e.org').onRef('n.endpoint_id', '=', 'e.id'))
    .select('n.number')
    .where('e.org', '=', p.org)
    .where('e.id', '=', p.id)
    .$if(engine === 'postgres', (q) => q.forKeyShare('e')),
)
const giveNumber = query((db, p: Endpoint & { number: number }) =>
  db.insertInto('endpoint_numbers').values({ org: p.org, endpoint_id: p.id, number: p.number }),
)
/** The number of an endpoint in the history, made when it is first asked for; undefined when there is no such endpoint. */
export async function numberOfEndpoint(on: Telemetry, org: number, id: string): Promise<number | undefined> {
  const endpoint = await numberAndLock(on, { org, id })
  if (!endpoint || endpoint.number !== null) return endpoint?.number ?? undefined
  const number = await nextId(on, org, 'endpoint')
  await giveNumber(on, { org, id, number })
  return number
}

/** All rows in one parameter, so that one statement writes however many there are. */
const rowsIn = (engine: Engine, rows: string) =>
  engine === 'postgres' ? sql`jsonb_array_elements(${rows}::jsonb)` : sql`jsonb_each(${rows})`

const historyColumns = ['org', 'slot', 'endpoint', ...columns] as const
const insert = query((db, p: { rows: string }, engine) =>
  db
    .insertInto('samples')
    .columns([...historyColumns])
    .expression((q) =>
      q
        .selectFrom(rowsIn(engine, p.rows).as('sent'))
        .select(historyColumns.map((name, i) => sql`cast(value ->> ${sql.lit(i)} as bigint)`.as(name)))
        // SQLite cannot tell an ON CONFLICT from a join's ON without it.
        .where(sql<boolean>`true`),
    )
    .onConflict((c) => c.doNothing()),
)
/** What is there already, at the same time of the same endpoint, stays as it is. */
export async function insertSamples(on: Telemetry, org: number, endpoint: number, samples: readonly SampleRow[]) {
  const rows = samples.map((s) => [org, Math.floor(s.timestamp / slotLength), endpoint, ...columns.map((c) => s[c])])
  await insert(on, { rows: JSON.stringify(rows) })
}

/** Named one by one: placeholders cannot be listed. */
const valuesOf = (p: SampleRow) => Object.fromEntries(columns.map((name) => [name, p[name]])) as unknown as SampleRow

const replace = query((db, p: Endpoint & SampleRow) =>
  db
    .insertInto('samples_latest')
    .values({ org: p.org, endpoint_id: p.id, ...valuesOf(p) })
    .onConflict((c) =>
      c.columns(['org', 'endpoint_id']).doUpdateSet(valuesOf(p)).where('samples_latest.timestamp', '<', p.timestamp),
    ),
)
/** Unless a newer one is there. */
export const updateLatest = async (on: Telemetry, org: number, id: string, sample: SampleRow) => {
  await replace(on, { org, id, ...sample })
}

const latestColumns = columns.map((name) => `s.${name}` as const)

const latest = queryOne((db, p: Endpoint) =>
  db
    .selectFrom('endpoints as e')
    .leftJoin('samples_latest as s', (j) => j.onRef('s.org', '=', 'e.org').onRef('s.endpoint_id', '=', 'e.id'))
    .select(latestColumns)
    .where('e.org', '=', p.org)
    .where('e.id', '=', p.id),
)
/** Undefined if there is no such endpoint; its columns are null if it has no sample. */
export const findLatest = async (on: Reader, org: number, id: string) =>
  isUuid(id) ? latest(on, { org, id }) : undefined

interface Filter {
  org: number
  region: number
  location: number
}
const latestOfEndpoints = byPlace((byRegion, byLocation) =>
  query((db, p: Filter) =>
    db
      .selectFrom('endpoints as e')
      .leftJoin('samples_latest as s', (j) => j.onRef('s.org', '=', 'e.org').onRef('s.endpoint_id', '=', 'e.id'))
      .$if(byRegion || byLocation, (q) =>
        q
          .innerJoin('rooms as r', (j) => j.onRef('r.org', '=', 'e.org').onRef('r.id', '=', 'e.room_id'))
          .innerJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id')),
      )
      .select(['e.id', ...latestColumns])
      .where('e.org', '=', p.org)
      .$if(byRegion, (q) => q.where(sql.ref('l.region_id'), '=', p.region))
      .$if(byLocation, (q) => q.where(sql.ref('l.id'), '=', p.location))
      .orderBy('e.id'),
  ),
)
/** Every endpoint; its columns are null if it has no sample. */
export const listLatest = (on: Reader, org: number, region?: number, location?: number) =>
  latestOfEndpoints(on, { org }, region, location)

const rooms = byPlace((byRegion, byLocation) =>
  query((db, p: Filter) =>
    db
      .selectFrom('rooms as r')
      .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
      .select('r.id')
      .where('r.org', '=', p.org)
      .$if(byRegion, (q) => q.where('l.region_id', '=', p.region))
      .$if(byLocation, (q) => q.where('r.location_id', '=', p.location))
      .orderBy('r.id'),
  ),
)
export const listRoomIds = (on: Reader, org: number, region?: number, location?: number) =>
  rooms(on, { org }, region, location)

const inRooms = query((db, p: { org: number; since: number }) =>
  db
    .selectFrom('samples_latest as s')
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 's.org').onRef('e.id', '=', 's.endpoint_id'))
    .select(['e.room_id', ...latestColumns])
    .where('s.org', '=', p.org)
    .where('s.timestamp', '>=', p.since)
    .where('e.room_id', 'is not', null),
)
/** The latest samples of endpoints that are in rooms, as far as they are not older than `since`, in Unix seconds. */
export const listLatestInRooms = (on: Reader, org: number, since: number) => inRooms(on, { org, since })

const inRoom = query((db, p: { org: number; room: number; since: number }) =>
  db
    .selectFrom('endpoints as e')
    .innerJoin('samples_latest as s', (j) => j.onRef('s.org', '=', 'e.org').onRef('s.endpoint_id', '=', 'e.id'))
    .select(latestColumns)
    .where('e.org', '=', p.org)
    .where('e.room_id', '=', p.room)
    .where('s.timestamp', '>=', p.since),
)
export const listLatestInRoom = (on: Reader, org: number, room: number, since: number) =>
  inRoom(on, { org, room, since })

const anyEndpoint = queryOne((db, p: { org: number }) =>
  db.selectFrom('endpoints').select('id').where('org', '=', p.org).limit(1),
)
export const hasEndpoint = async (on: Reader, org: number) => (await anyEndpoint(on, { org })) !== undefined

const oldest = queryOne((db, p: { org: number; slot: number }) =>
  db.selectFrom('samples').select('slot').where('org', '=', p.org).where('slot', '<', p.slot).orderBy('slot').limit(1),
)
/** The oldest slot that ended before that time, in seconds. */
export const findOldestSlot = async (on: Reader, org: number, before: number) =>
  (await oldest(on, { org, slot: Math.floor(before / slotLength) }))?.slot

const forget = query((db, p: { org: number; slot: number }) =>
  db.deleteFrom('samples').where('org', '=', p.org).where('slot', '=', p.slot),
)
export const deleteSlot = (telemetry: Telemetry, org: number, slot: number) => forget(telemetry, { org, slot })
