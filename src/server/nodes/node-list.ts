// SQL that lists nodes for operators.
import { sql } from 'kysely'
import { nodeLockClass } from '../db/postgres/advisory-locks.ts'
import { systemQuery } from '../db/system.ts'

/** On PostgreSQL a node that is up holds the lock of its row. A SQLite database does not tell. */
const hasLock = sql<boolean>`exists (select from pg_locks where locktype = 'advisory' and granted and objsubid = 2
  and classid = ${sql.lit(nodeLockClass)} and objid::bigint = nodes.id
  and database = (select oid from pg_database where datname = current_database()))`

/** Lists the nodes that are up, and those that ended after a time, by id. */
export const listNodes = systemQuery((db, p: { endedAfter: number }, engine) =>
  db
    .selectFrom('nodes')
    .select(['id', 'name', 'version', 'state', 'started_at', 'ended_at'])
    .select((engine === 'postgres' ? hasLock : sql<boolean>`1`).as('has_lock'))
    .select(
      sql<number>`(select count(*) from endpoints where endpoints.node_id = nodes.id and nodes.state = 'up')`.as(
        'devices',
      ),
    )
    .where((e) => e.or([e('state', '=', 'up'), e('ended_at', '>', p.endedAfter)]))
    .orderBy('id'),
)
