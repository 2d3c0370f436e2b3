// SQL of the table of nodes.
import { sql } from 'kysely'
import { type SystemTx, systemWrite, systemWriteOne } from '../db/system.ts'

const startLock = 0x4e6f6465 // "Node"

/**
 * Starts take turns until their commit, so that rows appear in the order of their ids. Strict reads notice by the highest id that a node
 * has started, also if it has ended again. For that reason the row with the highest id is never deleted either.
 */
export async function lockStarts(tx: SystemTx): Promise<void> {
  if (tx.engine === 'postgres') await sql`select pg_advisory_xact_lock(${startLock}, 0)`.execute(tx.kysely)
}

export const insertNode = systemWriteOne((db, p: { name: string; version: string; at: number }) =>
  db
    .insertInto('nodes')
    .values({ name: p.name, version: p.version, state: 'up', beats: 0, changes: 0, started_at: p.at, ended_at: null })
    .returning('id'),
)

/** A node that stops by itself. */
export const updateLeft = systemWrite((db, p: { id: number; at: number }) =>
  db.updateTable('nodes').set({ state: 'left', ended_at: p.at }).where('id', '=', p.id).where('state', '=', 'up'),
)

/** For a start that knows that no other node can be up. */
export const updateAllDead = systemWrite((db, p: { at: number }) =>
  db.updateTable('nodes').set({ state: 'dead', ended_at: p.at }).where('state', '=', 'up'),
)
