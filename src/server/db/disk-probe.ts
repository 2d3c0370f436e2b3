// Tests whether a full disk has space again, so that the service becomes ready without a restart.

import { randomBytes } from 'node:crypto'
import type { Database } from './db.ts'
import { systemWrite } from './system.ts'

/** A smaller value would fit into free pages of the database file. The value is random because PostgreSQL compresses repetitions. */
const probeBytes = 64 * 1024
const settingName = 'disk probe'

const insertProbe = systemWrite((db, p: { name: string; value: string }) =>
  db
    .insertInto('settings')
    .values({ name: p.name, value: p.value })
    .onConflict((c) => c.column('name').doUpdateSet({ value: p.value })),
)
const deleteProbe = systemWrite((db, p: { name: string }) => db.deleteFrom('settings').where('name', '=', p.name))

/** Is called every second, and does nothing unless the disk is full. A failed write means that it still is. */
export async function probeDisk(db: Database): Promise<void> {
  if (!db.health.isFull) return
  const value = randomBytes(probeBytes / 2).toString('hex')
  try {
    await db.systemTransaction((tx) => insertProbe(tx, { name: settingName, value }))
  } catch {
    return
  }
  await db.systemTransaction((tx) => deleteProbe(tx, { name: settingName }))
  db.health.markSpaceAvailable()
}
