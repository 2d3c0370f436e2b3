// SQL of the table of nodes, for a database with a single node.
import { systemWrite, systemWriteOne } from '../db/system.ts'

export const insertNode = systemWriteOne((db, p: { name: string; process: string; version: string; at: number }) =>
  db
    .insertInto('nodes')
    .values({
      name: p.name,
      version: p.version,
      process: p.process,
      state: 'up',
      beats: 0,
      changes: 0,
      started_at: p.at,
      ended_at: null,
    })
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
