// SQL of the credentials of unenrolled endpoints, which are kept for a while so that their devices can be told.
import { type Kysely, sql } from 'kysely'
import { write } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { systemQuery, systemQueryExists, systemQueryOne, systemWrite } from '../../db/system.ts'

const columns = ['hash', 'org', 'endpoint_id', 'serial', 'unenrolled_at'] as const

const presentCredentials = (db: Kysely<DatabaseSchema>, at: number) =>
  db
    .selectFrom('credential_directory as c')
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'c.org').onRef('e.id', '=', 'c.endpoint_id'))
    .select(['c.hash', 'c.org', 'c.endpoint_id', 'e.serial'])
    .select(sql<number>`cast(${at} as bigint)`.as('unenrolled_at'))

/** Runs before the endpoint is deleted, which deletes its credential. */
export const insertPastCredential = write((db, p: { org: number; id: string; at: number }) =>
  db
    .insertInto('past_credentials')
    .columns(columns)
    .expression(presentCredentials(db, p.at).where('e.org', '=', p.org).where('e.id', '=', p.id)),
)

/** Runs before the endpoints of the room are deleted. */
export const insertPastCredentialsOfRoom = write((db, p: { org: number; room: number; at: number }) =>
  db
    .insertInto('past_credentials')
    .columns(columns)
    .expression(presentCredentials(db, p.at).where('e.org', '=', p.org).where('e.room_id', '=', p.room)),
)

export const findPastCredential = systemQueryOne((db, p: { hash: Buffer; since: number }) =>
  db
    .selectFrom('past_credentials as c')
    .innerJoin('orgs as o', 'o.key', 'c.org')
    .select(['o.key as org_key', 'o.id as org_id', 'c.endpoint_id', 'c.serial'])
    .where('c.hash', '=', p.hash)
    .where('c.unenrolled_at', '>=', p.since),
)

/** The endpoints with this serial that were unenrolled since then, in all organisations. */
export const listPastEndpoints = systemQuery(
  (db, p: { serial: string; since: number }) =>
    db
      .selectFrom('past_credentials')
      .select('endpoint_id')
      .where('serial', '=', p.serial)
      .where('unenrolled_at', '>=', p.since),
  'postgres',
)

export const hasPastCredential = systemQueryExists((db, p: { before: number }) =>
  db.selectFrom('past_credentials').select('org').where('unenrolled_at', '<', p.before).limit(1),
)

/** Deletes at most `limit` rows, in all organisations. */
export const deletePastCredentialRows = systemWrite((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('past_credentials')
    .where('hash', 'in', (e) =>
      e.selectFrom('past_credentials').select('hash').where('unenrolled_at', '<', p.before).limit(p.limit),
    ),
)
