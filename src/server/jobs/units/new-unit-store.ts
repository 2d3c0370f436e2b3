// Inserts the units of jobs with their rooms and endpoints, up to a hundred thousand of them.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Tx } from '../../db/handles.ts'
import { jsonRows } from '../../db/queries/json-rows.ts'
import { write } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import type { JobKey } from '../store.ts'

export interface NewUnit {
  readonly number: number
  readonly stage: number
  readonly state: DatabaseSchema['job_units']['state']
  readonly reason: string | null
  readonly name: string
  readonly locationId: number | null
  readonly endedAt: number | null
  readonly roomIds: readonly number[]
  readonly endpoints: readonly { readonly id: string; readonly name: string }[]
}

type Rows = JobKey & { rows: readonly unknown[] }

const unitColumns = ['number', 'stage', 'state', 'reason', 'name', 'location_id', 'endpoint_count', 'ended_at'] as const
const unitTypes = {
  number: 'integer',
  stage: 'integer',
  state: 'text',
  reason: 'text',
  name: 'text',
  location_id: 'integer',
  endpoint_count: 'integer',
  ended_at: 'bigint',
} as const
const roomTypes = { unit: 'integer', room_id: 'integer' } as const
const endpointTypes = { unit: 'integer', endpoint_id: 'text', name: 'text' } as const

const number = (value: number) => sql<number>`cast(${value} as integer)`

// The statements return rows, because a transaction on PostgreSQL does not wait for others: hundreds of them would wait behind each other
// until the time limit of a statement.

const insertUnitRows = write((db, p: Rows, engine) =>
  db
    .insertInto('job_units')
    .columns(['org', 'job_id', ...unitColumns])
    .expression((e) =>
      e
        .selectFrom(
          jsonRows<Pick<DatabaseSchema['job_units'], keyof typeof unitTypes>>(engine, p.rows, unitTypes).as('r'),
        )
        .select([number(p.org).as('org'), number(p.job).as('job_id')])
        .select(unitColumns),
    )
    .returning('number'),
)
const insertRoomRows = write((db, p: Rows, engine) =>
  db
    .insertInto('job_unit_rooms')
    .columns(['org', 'job_id', 'unit', 'room_id'])
    .expression((e) =>
      e
        .selectFrom(
          jsonRows<Pick<DatabaseSchema['job_unit_rooms'], keyof typeof roomTypes>>(engine, p.rows, roomTypes).as('r'),
        )
        .select([number(p.org).as('org'), number(p.job).as('job_id'), 'unit', 'room_id']),
    )
    .returning('unit'),
)
const insertEndpointRows = write((db, p: Rows, engine) =>
  db
    .insertInto('job_endpoints')
    .columns(['org', 'job_id', 'unit', 'endpoint_id', 'name', 'state'])
    .expression((e) =>
      e
        .selectFrom(
          jsonRows<Pick<DatabaseSchema['job_endpoints'], keyof typeof endpointTypes>>(engine, p.rows, endpointTypes).as(
            'r',
          ),
        )
        .select([number(p.org).as('org'), number(p.job).as('job_id'), 'unit', 'endpoint_id', 'name'])
        .select(sql<'PENDING'>`'PENDING'`.as('state')),
    )
    .returning('unit'),
)

/** SQLite blocks the event loop for some milliseconds with this many rows. */
const maxRowsPerInsert = 500

/** Rows are made as they are inserted, because making a hundred thousand of them takes a long turn too. */
async function insertInParts(
  tx: Tx,
  insert: (tx: Tx, values: Omit<Rows, 'org'>) => Promise<unknown>,
  job: number,
  rows: Iterable<readonly unknown[]>,
): Promise<void> {
  let part: (readonly unknown[])[] = []
  for (const row of rows) {
    part.push(row)
    if (part.length < maxRowsPerInsert) continue
    await insert(tx, { job, rows: part })
    part = []
    await nextTurn()
  }
  if (part.length > 0) await insert(tx, { job, rows: part })
}

function* unitRows(units: readonly NewUnit[]) {
  for (const u of units) {
    yield [u.number, u.stage, u.state, u.reason, u.name, u.locationId, u.endpoints.length, u.endedAt]
  }
}

function* roomRows(units: readonly NewUnit[]) {
  for (const { number, roomIds } of units) for (const room of roomIds) yield [number, room]
}

function* endpointRows(units: readonly NewUnit[]) {
  for (const { number, endpoints } of units) for (const { id, name } of endpoints) yield [number, id, name]
}

/** Inserts units with their rooms and endpoints, some hundred rows in each turn of the event loop. */
export async function insertUnits(tx: Tx, job: number, units: readonly NewUnit[]): Promise<void> {
  await insertInParts(tx, insertUnitRows, job, unitRows(units))
  await insertInParts(tx, insertRoomRows, job, roomRows(units))
  await insertInParts(tx, insertEndpointRows, job, endpointRows(units))
}
