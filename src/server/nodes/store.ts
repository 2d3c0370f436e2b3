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
      seen_at: p.at,
      ended_at: null,
    })
    .returning('id'),
)

export const listUpNodeIds = systemQuery((db) => db.selectFrom('nodes').select('id').where('state', '=', 'up'))

export const listNodeLives = systemQuery((db, _: object) =>
  db
    .selectFrom('nodes')
    .select(['id', 'name', 'started_at as startedAt'])
    .select((e) => e.case().when('state', '=', 'up').then(null).else(e.ref('ended_at')).end().as('endedAt'))
    .select((e) =>
      e
        .case()
        .when('state', '=', 'dead')
        .then(e.fn.coalesce('seen_at', 'ended_at'))
        .else(e.ref('ended_at'))
        .end()
        .as('seenAt'),
    ),
)

/** For a node that runs at that time. */
export const updateSeen = systemWrite((db, p: { id: number; at: number }) =>
  db.updateTable('nodes').set({ seen_at: p.at }).where('id', '=', p.id).where('state', '=', 'up'),
)

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

/** Lists the rows with a certificate, oldest first, of nodes that are up or have ended since that time. */
export const listCertificateExpiries = systemQuery((db, p: { endedSince: number }) =>
  db
    .selectFrom('nodes')
    .select(['name', 'certificate_expires_at'])
    .where('certificate_expires_at', 'is not', null)
    .where(({ or, eb }) => or([eb('state', '=', 'up'), eb('ended_at', '>', p.endedSince)]))
    .orderBy('id'),
)

/**
 * Deletes the row of a node that has ended and that no endpoint points at. The row with the highest id stays: by that id strict reads
 * notice that a node has started, even one that has ended again.
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
