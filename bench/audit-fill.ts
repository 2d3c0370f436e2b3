// An audit log of any length, as if a region had been renamed so often: every entry in its place in the chain.
import type { Insertable } from 'kysely'
import type { Ground } from '../src/platform/by.ts'
import type { Schema } from '../src/platform/db/schema.ts'
import { linkOf } from '../src/resources/audit/chain.ts'
import { findHead } from '../src/resources/audit/store.ts'
import { type House, insert } from './house.ts'

/** Between two entries, in milliseconds. */
const apart = 1000
const together = 10_000

/** Adds entries until there are so many. Gives the time of the newest. */
export async function fillAudit(ground: Ground, { org }: House, total: number): Promise<number> {
  const { db, secrets } = ground
  const head = await findHead(db, org.key)
  if (!head) throw new Error('the organisation has no audit log')
  let { count, mac, timestamp } = head
  while (count < total) {
    const rows: Insertable<Schema['audit_log']>[] = []
    while (rows.length < together && count < total) {
      count++
      timestamp += apart
      const entry = entryOf(count, timestamp)
      mac = linkOf(secrets, mac, entry)
      rows.push({ org: org.key, ...entry, mac })
    }
    await insert(ground, 'audit_log', rows)
  }
  await db.telemetry(async ({ kysely }) => {
    await kysely.updateTable('audit_heads').set({ count, mac, timestamp }).where('org', '=', org.key).execute()
  })
  return timestamp
}

const entryOf = (seq: number, timestamp: number) => ({
  seq,
  timestamp,
  category: 'ORG',
  type: 'REGION_UPDATED',
  actor_type: 'KEY',
  actor_id: '1',
  actor_name: 'First key',
  target_type: 'region',
  target_id: '1',
  target_name: `Region ${seq}`,
  details: JSON.stringify({ before: { name: `Region ${seq - 1}` }, after: { name: `Region ${seq}` } }),
  request_id: `bench-${seq}`,
  ip: '127.0.0.1',
})
