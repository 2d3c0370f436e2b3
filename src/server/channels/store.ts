// Holds the SQL of channels.

import { type Selectable, sql } from 'kysely'
import { pickColumns } from '../db/queries/columns.ts'
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

/** The columns that people's changes write. */
const channelFieldColumns = ['name', 'enabled', 'settings', 'secrets', 'heartbeat_at'] as const
type ChannelValues = Pick<ChannelRow, 'org' | 'id' | (typeof channelFieldColumns)[number]>

export const insertChannel = writeOne((db, p: ChannelValues & Pick<ChannelRow, 'kind' | 'created_at'>) =>
  db
    .insertInto('channels')
    .values({
      org: p.org,
      id: p.id,
      version: 1,
      ...pickColumns(p, channelFieldColumns),
      kind: p.kind,
      disabled_reason: null,
      created_at: p.created_at,
      delivered_at: null,
      failing_since: null,
      last_error: null,
    })
    .returningAll(),
)

/** An edit begins a new time in which deliveries may fail. */
export const updateChannel = write((db, p: ChannelValues & Pick<ChannelRow, 'disabled_reason' | 'failing_since'>) =>
  db
    .updateTable('channels')
    .set((e) => ({
      version: e('version', '+', 1),
      ...pickColumns(p, channelFieldColumns),
      disabled_reason: p.disabled_reason,
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
