// Endpoints that are only rows, for tests that need a thousand of them or one in a state that takes long to reach.
import { randomUUID } from 'node:crypto'
import type { Schema } from '../src/platform/db/schema.ts'
import type { Harness, TestOrg } from './harness.ts'

type Row = Schema['endpoints']

/** One for each of the given values; they have no credential, so nobody can connect as one. */
export async function putEndpoints(house: Harness, { org }: TestOrg, values: readonly Partial<Row>[]): Promise<Row[]> {
  const rows = values.map((given): Row => {
    const id = randomUUID()
    const device = { id, serial: `S${id.slice(0, 13)}`, pairing_serial: null, model: 'NF19B1', status: '{}' }
    const presence = { connected: 0, connection_time: null, enrolment_time: Date.UTC(2026, 0, 1) }
    return { org: org.key, version: 1, room_id: null, profile_id: null, ...device, ...presence, ...given }
  })
  await house.ground.db.telemetry(async ({ kysely }) => {
    for (let at = 0; at < rows.length; at += 1000) {
      await kysely
        .insertInto('endpoints')
        .values(rows.slice(at, at + 1000))
        .execute()
    }
  })
  return rows
}
