// SQL of configs: the current one of each endpoint, and all its versions.

import { type SqlBool, sql } from 'kysely'
import type { TelemetryTx, Tx } from '../../db/handles.ts'
import { isAnyOf } from '../../db/queries/any-of.ts'
import { byUuid } from '../../db/queries/by-uuid.ts'
import { visibleQuery, visibleQueryOne, write, writeTelemetry } from '../../db/queries/query.ts'
import { reportedList } from '../../db/queries/reported-list.ts'
import { systemQuery } from '../../db/system.ts'

type Key = { org: number; id: string }
const emptyObject = sql<string>`'{}'`

/**
 * Returns the config of an endpoint with its profile, or undefined if there is no such endpoint. An endpoint without a row in
 * endpoint_configs has version 0, because no config was ever set.
 */
export const findConfig = byUuid(
  visibleQueryOne('room', 'e.room_id', (db, p: Key, engine) =>
    db
      .selectFrom('endpoints as e')
      .leftJoin('endpoint_configs as c', (j) => j.onRef('c.org', '=', 'e.org').onRef('c.endpoint_id', '=', 'e.id'))
      .leftJoin('profiles as p', (j) => j.onRef('p.org', '=', 'e.org').onRef('p.id', '=', 'e.profile_id'))
      .select(({ fn }) => [
        'e.id',
        'e.room_id',
        'e.serial',
        'e.model',
        'e.name',
        'e.pairing_serial',
        'e.status',
        'e.profile_id',
        fn.coalesce('p.config', emptyObject).as('profile'),
        fn.coalesce('p.secrets', emptyObject).as('profile_secrets'),
        fn.coalesce('c.version', sql<number>`0`).as('version'),
        fn.coalesce('c.state', sql<string>`'DELIVERED'`).as('state'),
        'c.error',
        fn.coalesce('c.explicit', emptyObject).as('explicit'),
        fn.coalesce('c.secrets', emptyObject).as('secrets'),
        fn.coalesce('c.reported_version', sql<number>`0`).as('reported_version'),
        fn.coalesce('c.reported', emptyObject).as('reported'),
        'c.reported_at',
        fn.coalesce('c.rejected', emptyObject).as('rejected'),
      ])
      .select([reportedList(engine, 'actions').as('actions'), reportedList(engine, 'configKeys').as('config_keys')])
      .where('e.org', '=', p.org)
      .where('e.id', '=', p.id),
  ),
)
export type EndpointConfigRow = NonNullable<Awaited<ReturnType<typeof findConfig>>>

/** Lists versions, the newest first, from version `upTo` downwards. */
export const listVersions = visibleQuery(
  'endpoint',
  'config_versions.endpoint_id',
  (db, p: Key & { upTo: number; count: number }) =>
    db
      .selectFrom('config_versions')
      .selectAll()
      .where('org', '=', p.org)
      .where('endpoint_id', '=', p.id)
      .where('version', '<=', p.upTo)
      .orderBy('version', 'desc')
      .limit(p.count),
)
export type ConfigVersionRow = Awaited<ReturnType<typeof listVersions>>[number]

/** Sets the keys of an endpoint. The caller must make a version afterwards. */
export const updateExplicit = write((db, p: Key & { explicit: string; secrets: string }) =>
  db
    .insertInto('endpoint_configs')
    .values({ org: p.org, endpoint_id: p.id, explicit: p.explicit, secrets: p.secrets })
    .onConflict((c) => c.columns(['org', 'endpoint_id']).doUpdateSet({ explicit: p.explicit, secrets: p.secrets })),
)

/** The caller must make a version afterwards. The versions before keep the keys. */
export const deleteExplicit = (tx: Tx, id: string): Promise<unknown> =>
  updateExplicit(tx, { id, explicit: '{}', secrets: '{}' })

/** Raises the version of each endpoint and returns it. This must be the first statement, because it locks out device reports. */
export const raiseVersions = write((db, p: { org: number; ids: readonly string[] }, engine) =>
  db
    .insertInto('endpoint_configs')
    .columns(['org', 'endpoint_id', 'version', 'state'])
    .expression((q) =>
      q
        .selectFrom('endpoints')
        .select(['org', 'id', sql<number>`1`.as('version'), sql<string>`'PENDING'`.as('state')])
        .where('org', '=', p.org)
        .where(isAnyOf(engine, 'id', p.ids)),
    )
    .onConflict((c) =>
      c
        .columns(['org', 'endpoint_id'])
        .doUpdateSet((e) => ({ version: e('endpoint_configs.version', '+', 1), state: 'PENDING', error: null })),
    )
    .returning(['endpoint_id', 'version']),
)

/** Only the version before the newest can still be pending. */
export const supersedeVersions = write((db, p: { org: number; ids: readonly string[]; now: number }, engine) =>
  db
    .updateTable('config_versions as v')
    .from('endpoint_configs as c')
    .set({ state: 'SUPERSEDED', updated_at: p.now })
    .whereRef('v.org', '=', 'c.org')
    .whereRef('v.endpoint_id', '=', 'c.endpoint_id')
    .where('v.version', '=', (e) => e('c.version', '-', 1))
    .where('v.state', '=', 'PENDING')
    .where('c.org', '=', p.org)
    .where(isAnyOf(engine, 'c.endpoint_id', p.ids)),
)

interface Author {
  readonly type: string
  readonly id: string
  readonly name: string
  readonly jobId: number | undefined
}
type NewVersions = {
  org: number
  ids: readonly string[]
  now: number
  authorType: string
  authorId: string
  authorName: string
  job: number | null
}
const text = (value: string) => sql<string>`cast(${value} as text)`
const time = (value: number) => sql<number>`cast(${value} as bigint)`
const insertNewest = write((db, p: NewVersions, engine) =>
  db
    .insertInto('config_versions')
    .columns([
      'org',
      'endpoint_id',
      'version',
      'state',
      'explicit',
      'secrets',
      'profile_id',
      'profile',
      'profile_secrets',
      'author_type',
      'author_id',
      'author_name',
      'created_at',
      'updated_at',
      'job_id',
    ])
    .expression((q) =>
      q
        .selectFrom('endpoint_configs as c')
        .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'c.org').onRef('e.id', '=', 'c.endpoint_id'))
        .leftJoin('profiles as p', (j) => j.onRef('p.org', '=', 'e.org').onRef('p.id', '=', 'e.profile_id'))
        .select(({ fn }) => [
          'c.org',
          'c.endpoint_id',
          'c.version',
          'c.state',
          'c.explicit',
          'c.secrets',
          'e.profile_id',
          fn.coalesce('p.config', emptyObject).as('profile'),
          fn.coalesce('p.secrets', emptyObject).as('profile_secrets'),
          text(p.authorType).as('author_type'),
          text(p.authorId).as('author_id'),
          text(p.authorName).as('author_name'),
          time(p.now).as('created_at'),
          time(p.now).as('updated_at'),
          sql<number | null>`cast(${p.job} as integer)`.as('job_id'),
        ])
        .where('c.org', '=', p.org)
        .where(isAnyOf(engine, 'c.endpoint_id', p.ids)),
    ),
)
/** Writes the newest version of each endpoint into its history, with the profile as it is now. */
export const insertVersions = (tx: Tx, ids: readonly string[], author: Author, now: number) =>
  insertNewest(tx, {
    ids,
    now,
    authorType: author.type,
    authorId: author.id,
    authorName: author.name,
    job: author.jobId ?? null,
  })

type Report = Key & { version: number; reported: string; now: number }
/** The write locks the config of this endpoint until the transaction ends. */
export const updateReported = writeTelemetry((db, p: Report) =>
  db
    .insertInto('endpoint_configs')
    .columns(['org', 'endpoint_id', 'reported_version', 'reported', 'reported_at'])
    .expression((q) =>
      q
        .selectFrom('endpoints')
        .select([
          'org',
          'id',
          sql<number>`cast(${p.version} as integer)`.as('reported_version'),
          text(p.reported).as('reported'),
          time(p.now).as('reported_at'),
        ])
        .where('org', '=', p.org)
        .where('id', '=', p.id),
    )
    .onConflict((c) =>
      c.columns(['org', 'endpoint_id']).doUpdateSet((e) => ({
        reported_version: e.ref('excluded.reported_version'),
        reported: e.ref('excluded.reported'),
        reported_at: e.ref('excluded.reported_at'),
      })),
    ),
)

const clearReported = write((db, p: Key) =>
  db
    .updateTable('endpoint_configs')
    .set({ reported_version: 0, reported: '{}', reported_at: null, rejected: '{}' })
    .where('org', '=', p.org)
    .where('endpoint_id', '=', p.id)
    .returning('version'),
)
/** A device that enrols again may have lost its config. Returns true if a config was ever set. */
export const deleteReported = async (tx: Tx, id: string): Promise<boolean> =>
  ((await clearReported(tx, { id }))[0]?.version ?? 0) > 0

/** Lets a device be sent keys again that it has rejected. The caller must make a version in the same transaction. */
export const deleteRejections = write((db, p: { org: number; ids: readonly string[] }, engine) =>
  db
    .updateTable('endpoint_configs')
    .set({ rejected: '{}' })
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'endpoint_id', p.ids)),
)

type Outcome = Key & { version: number; state: string; error: string | null; rejected: string; now: number }
const updateCurrentOutcome = writeTelemetry((db, p: Outcome) =>
  db
    .updateTable('endpoint_configs')
    .set({ state: p.state, error: p.error, rejected: p.rejected })
    .where('org', '=', p.org)
    .where('endpoint_id', '=', p.id)
    .where('version', '=', p.version)
    .where('state', '=', 'PENDING'),
)
const updateVersionOutcome = writeTelemetry((db, p: Outcome) =>
  db
    .updateTable('config_versions')
    .set({ state: p.state, error: p.error, updated_at: p.now })
    .where('org', '=', p.org)
    .where('endpoint_id', '=', p.id)
    .where('version', '=', p.version)
    .where('state', '=', 'PENDING'),
)
/** Stores the outcome of a pending version. */
export async function updateOutcome(tx: TelemetryTx, outcome: Omit<Outcome, 'org'>): Promise<void> {
  await updateCurrentOutcome(tx, outcome)
  await updateVersionOutcome(tx, outcome)
}

const supersedePending = write((db, p: Key & { now: number }) =>
  db
    .updateTable('config_versions')
    .set({ state: 'SUPERSEDED', updated_at: p.now })
    .where('org', '=', p.org)
    .where('endpoint_id', '=', p.id)
    .where('state', '=', 'PENDING'),
)
type Newest = Key & { now: number }
const updateCurrentPending = writeTelemetry((db, p: Key) =>
  db
    .updateTable('endpoint_configs')
    .set({ state: 'PENDING', error: null, reported_version: 0 })
    .where('org', '=', p.org)
    .where('endpoint_id', '=', p.id)
    .where('version', '>', 0)
    .returning('version'),
)
const updateNewestPending = writeTelemetry((db, p: Newest & { version: number }) =>
  db
    .updateTable('config_versions')
    .set({ state: 'PENDING', error: null, updated_at: p.now })
    .where('org', '=', p.org)
    .where('endpoint_id', '=', p.id)
    .where('version', '=', p.version),
)
/** Lets the newest version of an endpoint be sent again. Returns its number, or undefined if there is none. */
export async function updatePendingAgain(tx: TelemetryTx, id: string, now: number): Promise<number | undefined> {
  const version = (await updateCurrentPending(tx, { id }))[0]?.version
  if (version !== undefined) await updateNewestPending(tx, { id, version, now })
  return version
}

/** Nothing is sent to the device, and nothing is expected from it. */
const updateSettled = write((db, p: Key) =>
  db
    .updateTable('endpoint_configs')
    .set((e) => ({ state: 'DELIVERED', error: null, rejected: '{}', reported_version: e.ref('version') }))
    .where('org', '=', p.org)
    .where('endpoint_id', '=', p.id),
)
/** Ends the config of an endpoint whose device no longer has settings. Its versions stay as history. */
export async function endConfig(tx: Tx, id: string, now: number): Promise<void> {
  await supersedePending(tx, { id, now })
  await updateSettled(tx, { id })
}

/** Lists endpoints that are connected to a node and have not confirmed a version made before the given time. */
export const listUnconfirmed = systemQuery((db, p: { node: number; before: number }) =>
  db
    .selectFrom('endpoint_configs as c')
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'c.org').onRef('e.id', '=', 'c.endpoint_id'))
    .innerJoin('config_versions as v', (j) =>
      j.onRef('v.org', '=', 'c.org').onRef('v.endpoint_id', '=', 'c.endpoint_id').onRef('v.version', '=', 'c.version'),
    )
    .select('e.id')
    .where('e.node_id', '=', p.node)
    // The condition must be written as in the partial index, or the index is not used.
    .where(sql<SqlBool>`(c.state = 'PENDING' or c.reported_version <> c.version)`)
    .where('v.created_at', '<', p.before),
)

/** Lists endpoints that are connected to a node and have not confirmed their version, with that version. */
export const listUnconfirmedVersions = systemQuery((db, p: { node: number }) =>
  db
    .selectFrom('endpoint_configs as c')
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'c.org').onRef('e.id', '=', 'c.endpoint_id'))
    .select(['e.id', 'c.version'])
    .where('e.node_id', '=', p.node)
    // The condition must be written as in the partial index, or the index is not used.
    .where(sql<SqlBool>`(c.state = 'PENDING' or c.reported_version <> c.version)`),
)
