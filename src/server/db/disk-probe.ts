// While the disk is full: tries whether there is space again, so that the service becomes ready by itself.

import { randomBytes } from 'node:crypto'
import type { Database } from './db.ts'
import { systemWrite } from './system.ts'

/** Less would fit into pages that the database has already. Random, because PostgreSQL compresses what repeats. */
const probeBytes = 64 * 1024
const name = 'disk probe'

const insertProbe = systemWrite((db, p: { name: string; value: string }) =>
  db
    .insertInto('settings')
    .values({ name: p.name, value: p.value })
    .onConflict((c) => c.column('name').doUpdateSet({ value: p.value })),
)
const deleteProbe = systemWrite((db, p: { name: string }) => db.deleteFrom('settings').where('name', '=', p.name))

/** To be called every second; costs nothing unless the disk is full. A write that fails for want of space is what it expects. */
export async function probeDisk(db: Database): Promise<void> {
  if (!db.health.isFull) return
  const value = randomBytes(probeBytes / 2).toString('hex')
  try {
    await db.systemTransaction((tx) => insertProbe(tx, { name, value }))
  } catch {
    return
  }
  await db.systemTransaction((tx) => deleteProbe(tx, { name }))
  db.health.foundSpace()
}
