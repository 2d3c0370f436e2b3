// SQL of device commands, in the table `operations`. A state only moves forward. [contract 5.4.operation]

import { type Selectable, sql } from 'kysely'
import { isUuid } from '../../core/uuid.ts'
import type { EngineName } from '../../db/engine.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { isAnyOf } from '../../db/queries/any-of.ts'
import {
  visibleQuery,
  visibleQueryOne,
  wholeQuery,
  write,
  writeOne,
  writeTelemetry,
  writeTelemetryOne,
} from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { systemQuery, systemQueryExists, systemWrite } from '../../db/system.ts'

export type CommandRow = Omit<Selectable<DatabaseSchema['operations']>, 'org'>

/** The states are literals, because SQLite uses the partial index of open commands only then. */
const open = sql<boolean>`state in ('QUEUED', 'SENT', 'ACKNOWLEDGED')`
const waiting = sql<boolean>`state in ('QUEUED', 'SENT')`
const final = sql<boolean>`state in ('SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED', 'SKIPPED')`

/** The endpoint of the command points at the node. */
const isAtNode = (node: number) => sql<boolean>`exists (select 1 from endpoints as e
  where e.org = operations.org and e.id = operations.endpoint_id and e.node_id = ${node})`

const columns = [
  'id',
  'endpoint_id',
  'type',
  'state',
  'payload',
  'created_at',
  'updated_at',
  'deadline',
  'sent_at',
  'told_at',
  'sent_connection',
  'told_connection',
  'error',
] as const

const selectCommand = visibleQueryOne('endpoint', 'operations.endpoint_id', (db, p: { org: number; id: string }) =>
  db.selectFrom('operations').select(columns).where('org', '=', p.org).where('id', '=', p.id),
)
export const findCommand = async (on: OrgReader, id: string) => (isUuid(id) ? selectCommand(on, { id }) : undefined)

export const listCommandsOf = visibleQuery(
  'endpoint',
  'operations.endpoint_id',
  (db, p: { org: number; endpoint: string; limit: number }) =>
    db
      .selectFrom('operations')
      .select(columns)
      .where('org', '=', p.org)
      .where('endpoint_id', '=', p.endpoint)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(p.limit),
)

/** Collecting logs takes long, so a device may acknowledge the command, restart, and not know of it any more. */
const collecting = sql<boolean>`(type = 'COLLECT_LOGS' and state = 'ACKNOWLEDGED')`

/** A command that was sent over this connection before `overdue` and not acknowledged is sent again. */
export interface ResendRule {
  readonly now: number
  readonly overdue: number
  /** Connections are compared by number, because times of two nodes cannot be compared. */
  readonly connection: number
}

/** Lists the commands to send to a device, the oldest first, without those sent a moment ago over this connection. */
export const listWaiting = wholeQuery((db, p: ResendRule & { org: number; endpoint: string }) =>
  db
    .selectFrom('operations')
    .select(columns)
    .where('org', '=', p.org)
    .where('endpoint_id', '=', p.endpoint)
    .where((e) => {
      const onAnEarlierConnection = e('told_connection', '<', p.connection)
      return e.or([
        e('state', '=', 'QUEUED'),
        e.and([e('state', '=', 'SENT'), e.or([onAnEarlierConnection, e('told_at', '<', p.overdue)])]),
        e.and([collecting, onAnEarlierConnection]),
      ])
    })
    .where('deadline', '>', p.now)
    .orderBy('created_at')
    .orderBy('id'),
)

/** Lists the endpoints of a node with a command that was sent or created before the given time and not acknowledged. */
export const listOverdueEndpoints = systemQuery((db, p: { node: number; now: number; before: number }) =>
  db
    .selectFrom('operations')
    .select('endpoint_id')
    .distinct()
    .where(open)
    .where('deadline', '>', p.now)
    .where(waiting)
    .where((e) => e(e.fn.coalesce('told_at', 'created_at'), '<', p.before))
    .where(isAtNode(p.node)),
)

/** Lists the endpoints of a node with a command that was never sent. */
export const listQueuedEndpoints = systemQuery((db, p: { node: number; now: number }) =>
  db
    .selectFrom('operations')
    .select('endpoint_id')
    .distinct()
    .where(open)
    .where('deadline', '>', p.now)
    .where('state', '=', 'QUEUED')
    .where(isAtNode(p.node)),
)

/** The values that the commands of one request share. */
export interface CommandBatch {
  readonly org: number
  readonly type: string
  /** JSON text. */
  readonly payload: string
  readonly at: number
  readonly deadline: number
}
export type NewCommand = Pick<CommandRow, 'id' | 'endpoint_id' | 'state'>

/** Selects an item of a row, which is a JSON array. */
const item = (engine: EngineName, position: 0 | 1 | 2) =>
  engine === 'postgres'
    ? sql<string>`value ->> ${sql.lit(position)}`
    : sql<string>`value ->> ${sql.lit(`$[${position}]`)}`

const insertRows = write((db, p: CommandBatch & { items: string }, engine) =>
  db
    .insertInto('operations')
    .columns(['org', ...columns])
    .expression((e) =>
      e
        .selectFrom(
          engine === 'postgres'
            ? sql<{ value: unknown }>`jsonb_array_elements(${p.items}::jsonb)`.as('i')
            : sql<{ value: unknown }>`json_each(${p.items})`.as('i'),
        )
        .select((q) => [
          sql<number>`cast(${p.org} as integer)`.as('org'),
          item(engine, 0).as('id'),
          item(engine, 1).as('endpoint_id'),
          sql<string>`cast(${p.type} as text)`.as('type'),
          item(engine, 2).as('state'),
          sql<string>`cast(${p.payload} as text)`.as('payload'),
          sql<number>`cast(${p.at} as bigint)`.as('created_at'),
          sql<number>`cast(${p.at} as bigint)`.as('updated_at'),
          sql<number>`cast(${p.deadline} as bigint)`.as('deadline'),
          q.lit(null).as('sent_at'),
          q.lit(null).as('told_at'),
          q.lit(null).as('sent_connection'),
          q.lit(null).as('told_connection'),
          q.lit(null).as('error'),
        ]),
    ),
)
/** SQLite blocks the event loop for 5 ms with this many rows. */
const maxRowsPerInsert = 250

export async function insertCommands(tx: Tx, batch: CommandBatch, items: readonly NewCommand[]): Promise<void> {
  for (let at = 0; at < items.length; at += maxRowsPerInsert) {
    const rows = items.slice(at, at + maxRowsPerInsert).map((i) => [i.id, i.endpoint_id, i.state])
    await insertRows(tx, { ...batch, items: JSON.stringify(rows) })
  }
}

type Sending = { org: number; ids: readonly string[]; at: number; endpoint: string; node: number; connection: number }

/**
 * Marks commands as sent over a connection and returns them. A cancelled command is not returned; a returned one can no longer be
 * cancelled. Nothing is sent over a connection that another one has replaced.
 */
export const updateToSent = writeTelemetry((db, p: Sending, engine) =>
  db
    .updateTable('operations')
    .set((e) => ({
      state: sql<string>`case state when 'QUEUED' then 'SENT' else state end`,
      updated_at: sql<number>`case state when 'QUEUED' then ${p.at} else updated_at end`,
      sent_at: e.fn.coalesce('sent_at', e.val(p.at)),
      told_at: p.at,
      sent_connection: e.fn.coalesce('sent_connection', e.val(p.connection)),
      told_connection: p.connection,
    }))
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'id', p.ids))
    .where((e) => e.or([waiting, collecting]))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('endpoints')
          .select('endpoints.id')
          .where('endpoints.org', '=', p.org)
          .where('endpoints.id', '=', p.endpoint)
          .where('endpoints.node_id', '=', p.node)
          .where('endpoints.connection', '=', p.connection),
      ),
    )
    .returning(columns),
)

type Step = { org: number; id: string; at: number }

/** Returns undefined if the command was already acknowledged or final. */
export const updateToAcknowledged = writeTelemetryOne((db, p: Step) =>
  db
    .updateTable('operations')
    .set({ state: 'ACKNOWLEDGED', updated_at: p.at })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where(waiting)
    .returning(columns),
)

/** Returns undefined if the command was not open, because a final state never changes. */
export const finishCommand = writeTelemetryOne((db, p: Step & { state: string; error: string | null }) =>
  db
    .updateTable('operations')
    .set({ state: p.state, error: p.error, updated_at: p.at })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where(open)
    .returning(columns),
)

const cancelIfQueued = writeOne((db, p: Step) =>
  db
    .updateTable('operations')
    .set({ state: 'CANCELLED', updated_at: p.at })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where('state', '=', 'QUEUED')
    .returning(columns),
)
/** Returns undefined if the command is not queued any more. */
export const cancelQueuedCommand = async (tx: Tx, id: string, at: number) =>
  isUuid(id) ? cancelIfQueued(tx, { id, at }) : undefined

/** Cancels the commands of endpoints that are unenrolled. [contract 4.endpointsDelete] */
export const cancelOpenCommands = write((db, p: { org: number; endpoints: readonly string[]; at: number }, engine) =>
  db
    .updateTable('operations')
    .set({ state: 'CANCELLED', updated_at: p.at })
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'endpoint_id', p.endpoints))
    .where(open)
    .returning(columns),
)

export const hasExpiredCommand = systemQueryExists((db, p: { now: number }) =>
  db.selectFrom('operations').select('id').where(open).where('deadline', '<=', p.now).limit(1),
)

/** Expires commands in all organisations. */
export const expireOpenCommands = systemWrite((db, p: { now: number }) =>
  db
    .updateTable('operations')
    .set({ state: 'EXPIRED', updated_at: p.now })
    .where(open)
    .where('deadline', '<=', p.now)
    .returning(['org', ...columns]),
)

export const hasOldCommand = systemQueryExists((db, p: { before: number }) =>
  db.selectFrom('operations').select('id').where(final).where('updated_at', '<', p.before).limit(1),
)

/** Deletes at most `limit` commands, in all organisations. */
export const deleteOldCommandRows = systemWrite((db, p: { before: number; limit: number }) =>
  db.deleteFrom('operations').where(
    (e) => e.refTuple('org', 'id'),
    'in',
    (e) =>
      e
        .selectFrom('operations as o')
        .select(['o.org', 'o.id'])
        .where(final)
        .where('o.updated_at', '<', p.before)
        .limit(p.limit)
        .$asTuple('org', 'id'),
  ),
)
