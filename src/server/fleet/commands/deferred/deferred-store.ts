// SQL of reboots that wait, and of the attempts to send them. [contract 12.when]

import { type Kysely, type SqlBool, sql } from 'kysely'
import { isAnyOf } from '../../../db/queries/any-of.ts'
import {
  wholeQuery,
  wholeQueryExists,
  wholeQueryOne,
  writeAny,
  writeTelemetry,
  writeTelemetryOne,
} from '../../../db/queries/query.ts'
import type { DatabaseSchema } from '../../../db/schema/schema.ts'
import { isConnected } from '../../../nodes/presence-sql.ts'
import { commandColumns } from '../store.ts'

/** The conditions of the partial index, which SQLite uses only if they are literals. */
const isWaiting = (alias: 'o.' | '') => {
  const [rebootTime, attemptOf, state] = ['reboot_time', 'attempt_of', 'state'].map((name) => sql.raw(alias + name))
  return sql<SqlBool>`${rebootTime} is not null and ${attemptOf} is null and ${state} = 'QUEUED'`
}
const isAttempted = sql<number>`case when exists (select 1 from operations as a where a.org = o.org
  and a.attempt_of = o.id and a.attempt_of is not null and a.state in ('QUEUED', 'SENT', 'ACKNOWLEDGED')) then 1 else 0 end`

const selectDeferred = (db: Kysely<DatabaseSchema>, p: { org: number; now: number }) =>
  db
    .selectFrom('operations as o')
    .leftJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'o.org').onRef('e.id', '=', 'o.endpoint_id'))
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .select(['o.id', 'o.group_id', 'o.endpoint_id', 'o.reboot_time', 'o.waits_for', 'o.told_at', 'o.deadline'])
    .select([isConnected.as('connected'), isAttempted.as('attempted')])
    .where('o.org', '=', p.org)
    .where(isWaiting('o.'))
    .where('o.deadline', '>', p.now)

/** Lists a page of the reboots that wait, by group. */
export const listDeferredAfter = wholeQuery((db, p: { org: number; after: string; now: number; limit: number }) =>
  selectDeferred(db, p).where('o.group_id', '>', p.after).orderBy('o.group_id').limit(p.limit),
)
export type DeferredRow = Awaited<ReturnType<typeof listDeferredAfter>>[number]

/** Lists all reboots of one group that wait. */
export const listDeferredGroup = wholeQuery((db, p: { org: number; group: string; now: number }) =>
  selectDeferred(db, p).where('o.group_id', '=', p.group),
)

/** Lists the reboots of endpoints that wait, or waited and have been acknowledged. */
export const listOpenDeferred = wholeQuery((db, p: { org: number; endpoints: readonly string[] }, engine) =>
  db
    .selectFrom('operations as o')
    .select(['o.id', 'o.endpoint_id', 'o.reboot_time'])
    .where('o.org', '=', p.org)
    .where(isAnyOf(engine, 'o.endpoint_id', p.endpoints))
    .where(sql<SqlBool>`o.reboot_time is not null and o.attempt_of is null and o.state in ('QUEUED', 'ACKNOWLEDGED')`),
)

/** Finds a reboot that waits for one of the endpoints. */
export const findWaitingReboot = wholeQueryOne((db, p: { org: number; endpoints: readonly string[] }, engine) =>
  db
    .selectFrom('operations as o')
    .select(['o.id', 'o.endpoint_id'])
    .where('o.org', '=', p.org)
    .where(isAnyOf(engine, 'o.endpoint_id', p.endpoints))
    .where(isWaiting('o.'))
    .limit(1),
)

/** Lists the rooms of the endpoints of groups, as they are now, with the change windows of their locations. */
export const listRoomsOfGroups = wholeQuery((db, p: { org: number; groups: readonly string[] }, engine) =>
  db
    .selectFrom('operations as o')
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'o.org').onRef('e.id', '=', 'o.endpoint_id'))
    .innerJoin('rooms as r', (j) => j.onRef('r.org', '=', 'e.org').onRef('r.id', '=', 'e.room_id'))
    .innerJoin('orgs as g', 'g.key', 'o.org')
    .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
    .select(['o.group_id', 'r.id as room_id', 'l.change_window'])
    .select(({ fn, ref }) => fn.coalesce(ref('l.timezone'), ref('g.timezone')).as('timezone'))
    .distinct()
    .where('o.org', '=', p.org)
    .where(isAnyOf(engine, 'o.group_id', p.groups))
    .where('o.group_id', 'is not', null),
)

type WaitsForUpdate = { org: number; ids: readonly string[]; waitsFor: DatabaseSchema['operations']['waits_for'] }

/** Returns those that are still waiting. On PostgreSQL they are locked until the end of the transaction. */
export const updateWaitsFor = writeTelemetry((db, p: WaitsForUpdate, engine) =>
  db
    .updateTable('operations')
    .set({ waits_for: p.waitsFor })
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'id', p.ids))
    .where(isWaiting(''))
    .returning(commandColumns),
)

export const updateToSkipped = writeTelemetry((db, p: { org: number; ids: readonly string[]; at: number }, engine) =>
  db
    .updateTable('operations')
    .set({ state: 'SKIPPED', updated_at: p.at })
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'id', p.ids))
    .where(isWaiting(''))
    .returning(commandColumns),
)

interface NewAttempt {
  readonly id: string
  readonly attemptOf: string
  readonly endpoint: string
  readonly group: string
  readonly time: 'idle' | 'window'
  readonly at: number
  readonly deadline: number
}
export const insertAttempt = writeTelemetry((db, p: NewAttempt & { org: number }) =>
  db.insertInto('operations').values({
    org: p.org,
    id: p.id,
    endpoint_id: p.endpoint,
    type: 'REBOOT',
    state: 'QUEUED',
    payload: '{"onlyIfIdle":true}',
    created_at: p.at,
    updated_at: p.at,
    deadline: p.deadline,
    reboot_time: p.time,
    group_id: p.group,
    attempt_of: p.attemptOf,
  }),
)

/** Deletes attempts that were not sent. They are made again when the rooms allow it. */
export const deleteUnsentAttempts = writeTelemetry((db, p: { org: number; ids: readonly string[] }, engine) =>
  db
    .deleteFrom('operations')
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'id', p.ids))
    .where(sql<SqlBool>`attempt_of is not null and state = 'QUEUED'`),
)

/** Deletes an attempt that the device refused because it is in use. Returns undefined if the device had acknowledged it before. */
export const deleteRefusedAttempt = writeTelemetryOne((db, p: { org: number; id: string }) =>
  db
    .deleteFrom('operations')
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where(sql<SqlBool>`attempt_of is not null and state in ('QUEUED', 'SENT', 'EXPIRED')`)
    .returning('id'),
)

type Step = { org: number; id: string; at: number }

/** The device is in use, so the reboot waits again. `told_at` of a deferred reboot is the time of the last refusal: its attempts have the times of sending. */
export const updateWaitsAgain = writeTelemetryOne((db, p: Step) =>
  db
    .updateTable('operations')
    .set({ told_at: p.at, waits_for: 'idle' })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where(isWaiting(''))
    .returning(commandColumns),
)

/** A report can come after the attempt has expired: the reboot happens all the same. */
export const updateAttemptAcknowledged = writeTelemetry((db, p: Step & { deadline: number }) =>
  db
    .updateTable('operations')
    .set({ state: 'ACKNOWLEDGED', updated_at: p.at, deadline: p.deadline })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where(sql<SqlBool>`state in ('QUEUED', 'SENT', 'EXPIRED')`),
)

export const updateDeferredAcknowledged = writeTelemetryOne((db, p: Step & { deadline: number }) =>
  db
    .updateTable('operations')
    .set({ state: 'ACKNOWLEDGED', waits_for: null, updated_at: p.at, deadline: p.deadline })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where(isWaiting(''))
    .returning(commandColumns),
)

/** Deletes the unsent attempts of a reboot. */
export const deleteAttemptsOf = writeAny((db, p: { org: number; id: string }) =>
  db
    .deleteFrom('operations')
    .where('org', '=', p.org)
    .where('attempt_of', '=', p.id)
    .where(sql<SqlBool>`attempt_of is not null and state = 'QUEUED'`),
)

export const hasOpenAttempt = wholeQueryExists((db, p: { org: number; id: string }) =>
  db
    .selectFrom('operations')
    .select('id')
    .where('org', '=', p.org)
    .where('attempt_of', '=', p.id)
    .where(sql<SqlBool>`attempt_of is not null and state in ('QUEUED', 'SENT', 'ACKNOWLEDGED')`),
)

/** Lists the reboots of groups that wait, except reboots of which an attempt was sent. */
export const listCancellable = wholeQuery((db, p: { org: number; groups: readonly string[] }, engine) =>
  db
    .selectFrom('operations as o')
    .select(['o.id', 'o.endpoint_id'])
    .where('o.org', '=', p.org)
    .where(isAnyOf(engine, 'o.group_id', p.groups))
    .where(isWaiting('o.'))
    .where(
      sql<SqlBool>`not exists (select 1 from operations as a where a.org = o.org and a.attempt_of = o.id
        and a.attempt_of is not null and a.state in ('SENT', 'ACKNOWLEDGED'))`,
    )
    .orderBy('o.id'),
)

/** Lists all reboots of groups. On PostgreSQL they are locked, so no attempt is made until the end of the transaction. */
export const lockGroups = writeAny((db, p: { org: number; groups: readonly string[] }, engine) =>
  db
    .selectFrom('operations')
    .select(['id', 'group_id', 'state'])
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'group_id', p.groups))
    .where(sql<SqlBool>`group_id is not null and attempt_of is null`)
    .orderBy('id')
    .$if(engine === 'postgres', (q) => q.forUpdate()),
)

export const cancelDeferred = writeAny((db, p: { org: number; ids: readonly string[]; at: number }, engine) =>
  db
    .updateTable('operations')
    .set({ state: 'CANCELLED', updated_at: p.at })
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'id', p.ids))
    .where(isWaiting(''))
    .returning(commandColumns),
)
