// SQL of device commands, in the table `operations`. A state only moves forward. [contract 5.4.operation]

import { type Selectable, sql } from 'kysely'
import type { Tx } from '../../db/handles.ts'
import { isAnyOf } from '../../db/queries/any-of.ts'
import { byUuid } from '../../db/queries/by-uuid.ts'
import { inParts } from '../../db/queries/in-parts.ts'
import { jsonRows } from '../../db/queries/json-rows.ts'
import {
  visibleQuery,
  visibleQueryOne,
  wholeQuery,
  wholeQueryOne,
  write,
  writeOne,
  writeTelemetry,
  writeTelemetryOne,
} from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { systemQuery } from '../../db/system.ts'

export type CommandRow = Omit<Selectable<DatabaseSchema['operations']>, 'org'>

/** The states are literals, because SQLite uses the partial index of open commands only then. */
export const isOpen = sql<boolean>`state in ('QUEUED', 'SENT', 'ACKNOWLEDGED')`
export const isUnacknowledged = sql<boolean>`state in ('QUEUED', 'SENT')`

export const commandColumns = [
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
  'reboot_time',
  'waits_for',
  'group_id',
  'attempt_of',
] as const

/** Attempts to send a reboot that waits are commands too, which only their devices see. */
const isNotAttempt = sql<boolean>`attempt_of is null`

export const findCommand = byUuid(
  visibleQueryOne('endpoint', 'operations.endpoint_id', (db, p: { org: number; id: string }) =>
    db
      .selectFrom('operations')
      .select(commandColumns)
      .where('org', '=', p.org)
      .where('id', '=', p.id)
      .where(isNotAttempt),
  ),
)

/** Finds a command or an attempt, by the id that a device names. */
export const findCommandOrAttempt = wholeQueryOne((db, p: { org: number; id: string }) =>
  db.selectFrom('operations').select(commandColumns).where('org', '=', p.org).where('id', '=', p.id),
)

export const listCommandsOf = visibleQuery(
  'endpoint',
  'operations.endpoint_id',
  (db, p: { org: number; endpoint: string; limit: number }) =>
    db
      .selectFrom('operations')
      .select(commandColumns)
      .where('org', '=', p.org)
      .where('endpoint_id', '=', p.endpoint)
      .where(isNotAttempt)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(p.limit),
)

export const listOpenCommands = visibleQuery(
  'endpoint',
  'operations.endpoint_id',
  (db, p: { org: number; limit: number }) =>
    db
      .selectFrom('operations')
      .select(commandColumns)
      .where('org', '=', p.org)
      .where(isOpen)
      .where(isNotAttempt)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(p.limit),
)

/** The values that the commands of one request share. */
export interface CommandBatch {
  readonly type: string
  /** JSON text. */
  readonly payload: string
  readonly at: number
  readonly deadline: number
  /** Set for reboots that wait. */
  readonly rebootTime?: CommandRow['reboot_time']
  readonly groupId?: string | null
  readonly waitsFor?: CommandRow['waits_for']
}
export type NewCommand = Pick<CommandRow, 'id' | 'endpoint_id' | 'state' | 'error'>

const insertRows = write((db, p: Required<CommandBatch> & { org: number; rows: readonly unknown[] }, engine) =>
  db
    .insertInto('operations')
    .columns(['org', ...commandColumns])
    .expression((e) =>
      e
        .selectFrom(
          jsonRows<NewCommand>(engine, p.rows, { id: 'text', endpoint_id: 'text', state: 'text', error: 'text' }).as(
            'r',
          ),
        )
        .select((q) => [
          sql<number>`cast(${p.org} as integer)`.as('org'),
          'r.id',
          'r.endpoint_id',
          sql<string>`cast(${p.type} as text)`.as('type'),
          'r.state',
          sql<string>`cast(${p.payload} as text)`.as('payload'),
          sql<number>`cast(${p.at} as bigint)`.as('created_at'),
          sql<number>`cast(${p.at} as bigint)`.as('updated_at'),
          sql<number>`cast(${p.deadline} as bigint)`.as('deadline'),
          q.lit(null).as('sent_at'),
          q.lit(null).as('told_at'),
          q.lit(null).as('sent_connection'),
          q.lit(null).as('told_connection'),
          'r.error',
          sql<CommandRow['reboot_time']>`cast(${p.rebootTime} as text)`.as('reboot_time'),
          sql<CommandRow['waits_for']>`cast(${p.waitsFor} as text)`.as('waits_for'),
          sql<string | null>`cast(${p.groupId} as text)`.as('group_id'),
          q.lit(null).as('attempt_of'),
        ]),
    ),
)
export async function insertCommands(tx: Tx, batch: CommandBatch, items: readonly NewCommand[]): Promise<void> {
  const { rebootTime = null, groupId = null, waitsFor = null } = batch
  for await (const part of inParts(items)) {
    const rows = part.map((item) => [item.id, item.endpoint_id, item.state, item.error])
    await insertRows(tx, { ...batch, rebootTime, groupId, waitsFor, rows })
  }
}

type Step = { org: number; id: string; at: number }

/** Returns undefined if the command was already acknowledged or final. */
export const updateToAcknowledged = writeTelemetryOne((db, p: Step) =>
  db
    .updateTable('operations')
    .set({ state: 'ACKNOWLEDGED', updated_at: p.at })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where(isUnacknowledged)
    .returning(commandColumns),
)

/** Returns undefined if the command was not open, because a final state never changes. */
export const finishCommand = writeTelemetryOne((db, p: Step & { state: string; error: string | null }) =>
  db
    .updateTable('operations')
    .set({ state: p.state, error: p.error, updated_at: p.at })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where(isOpen)
    .returning(commandColumns),
)

/** Lists the POWER commands that a device has been sent. */
export const listOpenPowerCommands = wholeQuery((db, p: { org: number; endpoint: string }) =>
  db
    .selectFrom('operations')
    .select(['id', 'payload'])
    .where('org', '=', p.org)
    .where('endpoint_id', '=', p.endpoint)
    .where('type', '=', 'POWER')
    .where('state', 'in', ['SENT', 'ACKNOWLEDGED'])
    .orderBy('created_at')
    .orderBy('id'),
)

/** Returns undefined if the command is no longer queued. */
export const cancelQueuedCommand = byUuid(
  writeOne((db, p: Step) =>
    db
      .updateTable('operations')
      .set({ state: 'CANCELLED', updated_at: p.at })
      .where('org', '=', p.org)
      .where('id', '=', p.id)
      .where('state', '=', 'QUEUED')
      .where(isNotAttempt)
      .returning(commandColumns),
  ),
)

const cancelAllOpen = write((db, p: { org: number; endpoints: readonly string[]; at: number }, engine) =>
  db
    .updateTable('operations')
    .set({ state: 'CANCELLED', updated_at: p.at })
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'endpoint_id', p.endpoints))
    .where(isOpen)
    .returning(commandColumns),
)

/** Cancels the commands of endpoints that are unenrolled, with the attempts to send them. [contract 4.endpointsDelete] */
export const cancelOpenCommands = async (tx: Tx, p: { endpoints: readonly string[]; at: number }) =>
  (await cancelAllOpen(tx, p)).filter(isCommand)

/** Answers, events and messages show commands, and not the attempts to send them. */
export const isCommand = ({ attempt_of }: Pick<CommandRow, 'attempt_of'>): boolean => attempt_of === null

export const listOrgsWithExpired = systemQuery((db, p: { now: number }) =>
  db.selectFrom('operations').select('org').distinct().where(isOpen).where('deadline', '<=', p.now),
)

export const expireOpenCommands = writeTelemetry((db, p: { org: number; now: number }) =>
  db
    .updateTable('operations')
    .set({ state: 'EXPIRED', updated_at: p.now })
    .where('org', '=', p.org)
    .where(isOpen)
    .where('deadline', '<=', p.now)
    .returning(commandColumns),
)
