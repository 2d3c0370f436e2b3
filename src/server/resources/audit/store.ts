// SQL of the audit log and of the heads of its chains.
import type { Selectable } from 'kysely'
import type { Reader, Tx } from '../../db/db.ts'
import { query, queryOne } from '../../db/query.ts'
import type { DatabaseSchema } from '../../db/schema.ts'

export type EntryRow = Selectable<DatabaseSchema['audit_log']>
export type HeadRow = Selectable<DatabaseSchema['audit_heads']>

/** Holding the head is what makes the writers of an organisation take turns on PostgreSQL; SQLite has one anyway. */
const lock = queryOne((db, p: { org: number }, engine) =>
  db
    .selectFrom('audit_heads')
    .selectAll()
    .where('org', '=', p.org)
    .$if(engine === 'postgres', (q) => q.forUpdate()),
)
export const lockHead = (tx: Tx, org: number) => lock(tx, { org })

const find = queryOne((db, p: { org: number }) => db.selectFrom('audit_heads').selectAll().where('org', '=', p.org))
export const findHead = (on: Reader, org: number) => find(on, { org })

const insertFirst = query((db, p: HeadRow) =>
  db.insertInto('audit_heads').values({ org: p.org, count: p.count, mac: p.mac, timestamp: p.timestamp }),
)
export const insertHead = (tx: Tx, head: HeadRow) => insertFirst(tx, head)

const update = query((db, p: HeadRow) =>
  db.updateTable('audit_heads').set({ count: p.count, mac: p.mac, timestamp: p.timestamp }).where('org', '=', p.org),
)
export const updateHead = (tx: Tx, head: HeadRow) => update(tx, head)

const insert = query((db, p: EntryRow) =>
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
  }),
)
export const insertEntry = (tx: Tx, entry: EntryRow) => insert(tx, entry)

export interface AuditWindowQuery {
  readonly org: number
  readonly from: number
  /** Only entries before this place, newest first. */
  readonly beforeTimestamp: number
  readonly beforeSeq: number
  readonly limit: number
}

const page = query((db, p: AuditWindowQuery) =>
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
export const listWindow = (on: Reader, window: AuditWindowQuery) => page(on, window)

const after = query((db, p: { org: number; seq: number; limit: number }) =>
  db
    .selectFrom('audit_log')
    .selectAll()
    .where('org', '=', p.org)
    .where('seq', '>', p.seq)
    .orderBy('seq')
    .limit(p.limit),
)
export const listAfter = (on: Reader, org: number, seq: number, limit: number) => after(on, { org, seq, limit })

const outside = queryOne((db, p: { org: number; count: number }) =>
  db
    .selectFrom('audit_log')
    .select('seq')
    .where('org', '=', p.org)
    .where((e) => e.or([e('seq', '<', 1), e('seq', '>', p.count)]))
    .orderBy('seq')
    .limit(1),
)
/** An entry that lies before the first or after the head. */
export const findOutside = (on: Reader, org: number, count: number) => outside(on, { org, count })
