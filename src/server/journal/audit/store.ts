// Holds the SQL of the audit log and of the heads of its chains.

import type { Selectable } from 'kysely'
import { query, queryOne, write, writeAny, writeOne } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'

export type EntryRow = Selectable<DatabaseSchema['audit_log']>
type HeadValues = Omit<Selectable<DatabaseSchema['audit_heads']>, 'wanted_messages'>

/** The lock on the head serialises the writers of an organisation on PostgreSQL. SQLite has one writer at a time anyway. */
export const lockHead = writeOne((db, p: { org: number }, engine) =>
  db
    .selectFrom('audit_heads')
    .selectAll()
    .where('org', '=', p.org)
    .$if(engine === 'postgres', (q) => q.forUpdate()),
)

/** Keeps audited changes waiting on PostgreSQL until the end of a transaction that decides by what they write, and is not audited itself. */
export const waitForChanges = writeAny((db, p: { org: number }, engine) =>
  db
    .selectFrom('audit_heads')
    .select('count')
    .where('org', '=', p.org)
    .$if(engine === 'postgres', (q) => q.forUpdate()),
)

export const findHead = queryOne((db, p: { org: number }) =>
  db.selectFrom('audit_heads').selectAll().where('org', '=', p.org),
)

export const insertHead = write((db, p: HeadValues) =>
  db.insertInto('audit_heads').values({ org: p.org, count: p.count, mac: p.mac, timestamp: p.timestamp }),
)

export const updateHead = write((db, p: HeadValues) =>
  db.updateTable('audit_heads').set({ count: p.count, mac: p.mac, timestamp: p.timestamp }).where('org', '=', p.org),
)

/** The types of messages that the channels have selected, as JSON. Audited changes read it with the head. */
export const findWantedMessages = queryOne((db, p: { org: number }) =>
  db.selectFrom('audit_heads').select('wanted_messages').where('org', '=', p.org),
)

export const updateWantedMessages = write((db, p: { org: number; wanted: string }) =>
  db.updateTable('audit_heads').set({ wanted_messages: p.wanted }).where('org', '=', p.org),
)

export const insertEntry = write((db, p: EntryRow) =>
  db.insertInto('audit_log').values({
    org: p.org,
    seq: p.seq,
    timestamp: p.timestamp,
    category: p.category,
    type: p.type,
    actor_type: p.actor_type,
    actor_id: p.actor_id,
    actor_name: p.actor_name,
    target_type: p.target_type,
    target_id: p.target_id,
    target_name: p.target_name,
    details: p.details,
    request_id: p.request_id,
    ip: p.ip,
    mac: p.mac,
    regions: p.regions,
  }),
)

export interface AuditWindowQuery {
  readonly org: number
  readonly from: number
  /** The query returns the entries before this position, newest first. */
  readonly beforeTimestamp: number
  readonly beforeSeq: number
  readonly limit: number
}

export const listWindow = query((db, p: AuditWindowQuery) =>
  db
    .selectFrom('audit_log')
    .selectAll()
    .where('org', '=', p.org)
    .where('timestamp', '>=', p.from)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('timestamp', 'seq'), '<', tuple(p.beforeTimestamp, p.beforeSeq)))
    .orderBy('timestamp', 'desc')
    .orderBy('seq', 'desc')
    .limit(p.limit),
)

export const listAfter = query((db, p: { org: number; seq: number; limit: number }) =>
  db
    .selectFrom('audit_log')
    .selectAll()
    .where('org', '=', p.org)
    .where('seq', '>', p.seq)
    .orderBy('seq')
    .limit(p.limit),
)

/** Finds an entry with a number below 1 or beyond the head. */
export const findEntryOutside = queryOne((db, p: { org: number; count: number }) =>
  db
    .selectFrom('audit_log')
    .select('seq')
    .where('org', '=', p.org)
    .where((e) => e.or([e('seq', '<', 1), e('seq', '>', p.count)]))
    .orderBy('seq')
    .limit(1),
)
