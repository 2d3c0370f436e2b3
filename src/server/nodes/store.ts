// SQL of the table of nodes.
import { systemQuery, systemQueryOne, systemWrite, systemWriteOne } from '../db/system.ts'

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

export const listUpNodeIds = systemQuery((db) => db.selectFrom('nodes').select('id').where('state', '=', 'up'))

/** A node that stops by itself. */
export const updateLeft = systemWrite((db, p: { id: number; at: number }) =>
  db.updateTable('nodes').set({ state: 'left', ended_at: p.at }).where('id', '=', p.id).where('state', '=', 'up'),
)

/** For a start that knows that no other node can be up. */
export const updateAllDead = systemWrite((db, p: { at: number }) =>
  db.updateTable('nodes').set({ state: 'dead', ended_at: p.at }).where('state', '=', 'up'),
)

export const listEndedNodes = systemQuery((db) =>
  db.selectFrom('nodes').select(['id', 'ended_at']).where('state', '!=', 'up').orderBy('id'),
)

/** Finds since when a node that is up runs: the one that started first. */
export const findFirstStart = systemQueryOne((db) =>
  db.selectFrom('nodes').select('started_at').where('state', '=', 'up').orderBy('started_at').limit(1),
)

export const updateCertificateExpiry = systemWrite((db, p: { id: number; expiresAt: number | null }) =>
  db.updateTable('nodes').set({ certificate_expires_at: p.expiresAt }).where('id', '=', p.id),
)

/** Looks at the nodes that are up. */
export const findEarliestExpiry = systemQueryOne((db) =>
  db
    .selectFrom('nodes')
    .select('certificate_expires_at')
    .where('state', '=', 'up')
    .where('certificate_expires_at', 'is not', null)
    .orderBy('certificate_expires_at')
    .limit(1),
)

/**
 * Deletes the row of a node that has ended and that no endpoint points at. The row with the highest id stays: by that id strict reads
 * notice that a node has started.
 */
export const deleteEndedNode = systemWrite((db, p: { id: number }) =>
  db
    .deleteFrom('nodes')
    .where('id', '=', p.id)
    .where('state', '!=', 'up')
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('nodes as later').select('later.id').whereRef('later.id', '>', 'nodes.id')),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('endpoints').select('endpoints.id').whereRef('endpoints.node_id', '=', 'nodes.id'))),
    ),
)
