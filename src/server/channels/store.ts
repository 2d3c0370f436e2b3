// Holds the SQL of channels.

import { type Selectable, sql } from 'kysely'
import { query, queryOne, write, writeOne } from '../db/queries/query.ts'
import type { DatabaseSchema } from '../db/schema/schema.ts'

/** A channel with the number of messages that wait for it. */
export type ChannelRow = Selectable<DatabaseSchema['channels']> & { readonly waiting: number }

const waiting = sql<number>`(select cast(count(*) as integer) from deliveries d
  where d.org = c.org and d.channel_id = c.id and d.state = 'WAITING')`

export const listChannels = query((db, p: { org: number }) =>
  db
    .selectFrom('channels as c')
    .selectAll('c')
    .select(waiting.as('waiting'))
    .where('c.org', '=', p.org)
    .orderBy('c.id'),
)

export const findChannel = queryOne((db, p: { org: number; id: number }) =>
  db
    .selectFrom('channels as c')
    .selectAll('c')
    .select(waiting.as('waiting'))
    .where('c.org', '=', p.org)
    .where('c.id', '=', p.id),
)

export const listChannelSettings = query((db, p: { org: number }) =>
  db.selectFrom('channels').select(['id', 'name', 'settings']).where('org', '=', p.org).orderBy('id'),
)

interface ChannelValues {
  readonly org: number
  readonly id: number
  readonly name: string
  readonly enabled: number
  readonly settings: string
  readonly secrets: Buffer
  readonly heartbeat_at: number | null
}

export const insertChannel = writeOne((db, p: ChannelValues & Pick<ChannelRow, 'kind' | 'created_at'>) =>
  db
    .insertInto('channels')
    .values({
      org: p.org,
      id: p.id,
      version: 1,
      name: p.name,
      kind: p.kind,
      enabled: p.enabled,
      disabled_reason: null,
      settings: p.settings,
      secrets: p.secrets,
      created_at: p.created_at,
      delivered_at: null,
      failing_since: null,
      last_error: null,
      heartbeat_at: p.heartbeat_at,
    })
    .returningAll(),
)

/** An edit begins a new time in which deliveries may fail. */
export const updateChannel = write((db, p: ChannelValues & Pick<ChannelRow, 'disabled_reason' | 'failing_since'>) =>
  db
    .updateTable('channels')
    .set((e) => ({
      version: e('version', '+', 1),
      name: p.name,
      enabled: p.enabled,
      disabled_reason: p.disabled_reason,
      settings: p.settings,
      secrets: p.secrets,
      heartbeat_at: p.heartbeat_at,
      failing_since: p.failing_since,
    }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

export const updateSecrets = write((db, p: { org: number; id: number; secrets: Buffer }) =>
  db
    .updateTable('channels')
    .set((e) => ({ version: e('version', '+', 1), secrets: p.secrets }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

/** Changes the settings without an edit by a person. */
export const updateChannelSettings = write((db, p: { org: number; id: number; settings: string }) =>
  db
    .updateTable('channels')
    .set((e) => ({ version: e('version', '+', 1), settings: p.settings }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

/** The foreign key of the deliveries deletes them too. */
export const deleteChannel = write((db, p: { org: number; id: number }) =>
  db.deleteFrom('channels').where('org', '=', p.org).where('id', '=', p.id),
)
