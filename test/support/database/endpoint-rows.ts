// Endpoints that are only rows, for tests that need a thousand of them or one in a state that takes long to reach.
import { randomUUID } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { Org } from '../../../src/server/auth/token-holder.ts'
import type { DatabaseSchema } from '../../../src/server/db/schema/schema.ts'
import type { Device } from '../../../src/server/devices/mqtt/handlers.ts'
import { emptyGivenValues } from '../../../src/server/fleet/endpoints/fields.ts'
import type { Harness, TestOrg } from '../harness.ts'

/** SQLite takes 32,766 values in a statement. */
const rowsPerInsert = 500

type Row = Selectable<DatabaseSchema['endpoints']>

/** The columns of a row; an endpoint with `connected: 1` points at the node of the harness. */
export type EndpointValues = Partial<Row> & { readonly connected?: number }

/** One for each of the given values; they have no credential, so no device can connect as one. */
export async function putEndpoints(
  harness: Pick<Harness, 'services'>,
  { org }: Pick<TestOrg, 'org'>,
  values: readonly EndpointValues[],
): Promise<Row[]> {
  const { db, node } = harness.services
  const { last } = await db.system.kysely
    .selectFrom('endpoints')
    .select((e) => e.fn.coalesce(e.fn.max('number'), sql<number>`0`).as('last'))
    .where('org', '=', org.key)
    .executeTakeFirstOrThrow()
  const rows = values.map(({ connected, ...given }, i): Row => {
    const id = randomUUID()
    const device = {
      id,
      serial: `S${id.slice(0, 13)}`,
      pairing_serial: null,
      model: 'NF19B1',
      status: '{}',
      readings: '{}',
      sensors_named: null,
      sensors_measured: 0,
      presence_only: 0,
    }
    // A node that is given explicitly comes later, with the other values.
    const node_id = connected ? (node?.id ?? null) : null
    const presence = {
      node_id,
      connection: connected ?? 0,
      previous_node_id: null,
      connection_time: null,
      online_since: null,
      unknown_until: null,
      via: null,
      source_id: null,
      source_type: null,
      missing_at_source: 0,
      rest: null,
      left_with_gateway: 0,
      overslept_at: null,
      call_ended_at: null,
      status_connection: connected ?? 0,
    }
    const given_values = { ...emptyGivenValues, name: null }
    return {
      org: org.key,
      number: last + 1 + i,
      version: 1,
      room_id: null,
      profile_id: null,
      enrolment_time: Date.UTC(2026, 0, 1),
      ...device,
      ...given_values,
      ...presence,
      ...given,
    }
  })
  const stays = rows.flatMap(({ number, room_id, id }) =>
    room_id === null ? [] : [{ org: org.key, endpoint: number, since: 0, until: null, room_id, endpoint_id: id }],
  )
  await db.systemTransaction(async ({ kysely }) => {
    for (let at = 0; at < stays.length; at += 1000) {
      await kysely
        .insertInto('endpoint_rooms')
        .values(stays.slice(at, at + 1000))
        .execute()
    }
    for (let at = 0; at < rows.length; at += rowsPerInsert) {
      await kysely
        .insertInto('endpoints')
        .values(rows.slice(at, at + rowsPerInsert))
        .execute()
    }
  })
  // PostgreSQL collects statistics within a minute by itself. Until then it plans for a small table.
  if (db.engine === 'postgres' && rows.length >= 500) {
    await db.systemTransaction(async ({ kysely }) => {
      await sql`analyze endpoints, endpoint_rooms`.execute(kysely)
    })
  }
  // They did not come through a store.
  db.invalidateAll()
  return rows
}

/** The device of a row, as its session knows it. */
export const deviceOfRow = (
  { key, id: orgId }: Pick<Org, 'key' | 'id'>,
  { id, number, serial, model }: Pick<Row, 'id' | 'number' | 'serial' | 'model'>,
): Device => ({
  org: { key, id: orgId },
  id,
  number,
  serial,
  model,
  sensors: { named: null, measured: 0, isPresenceOnly: false },
  // Whatever the row says now: a session reads this before it connects, and another connection can start in between.
  wasAway: true,
})
