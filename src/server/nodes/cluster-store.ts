// SQL of the table of nodes on PostgreSQL. It runs on the control session, which holds the locks of the rows.
import type pg from 'pg'
import { joiningLockId, nodeLockClass } from '../db/postgres/advisory-locks.ts'
import { sessionNameOf } from './this-node.ts'

export interface NodeRow {
  readonly id: number
  readonly name: string
  readonly process: string
  readonly beats: number
}

const heldLocks = `(SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = ${nodeLockClass}
  AND objsubid = 2 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`

/**
 * Nodes that take a row take turns until the transaction ends, so rows appear in the order of their ids, which strict reads
 * need (see `deleteEndedNode`).
 */
export async function lockJoining(client: pg.ClientBase): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1, $2)', [nodeLockClass, joiningLockId])
}

/** Lists the rows that are up, and whether the lock of each is held. */
export async function listUpNodes(client: pg.ClientBase): Promise<(NodeRow & { readonly isLocked: boolean })[]> {
  const { rows } = await client.query(
    `SELECT id, name, process, beats, id IN ${heldLocks} AS "isLocked" FROM nodes WHERE state = 'up' ORDER BY id`,
  )
  return rows
}

/** Returns the id of the new row. */
export async function insertClusterNode(
  client: pg.ClientBase,
  row: { readonly name: string; readonly process: string; readonly version: string; readonly at: number },
): Promise<number> {
  const { rows } = await client.query(
    `INSERT INTO nodes (name, process, version, state, beats, changes, started_at, seen_at)
     VALUES ($1, $2, $3, 'up', 0, 0, $4, $4) RETURNING id`,
    [row.name, row.process, row.version, row.at],
  )
  return rows[0].id
}

/** Takes the lock of this node's row. Another session cannot hold it, unless it is a lost one of this process. */
export async function lockNode(client: pg.ClientBase, id: number): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_try_advisory_lock($1, $2) AS "isMine"', [nodeLockClass, id])
  return rows[0].isMine
}

export async function isNodeLocked(client: pg.ClientBase, id: number): Promise<boolean> {
  const { rows } = await client.query(`SELECT $1 IN ${heldLocks} AS "isLocked"`, [id])
  return rows[0].isLocked
}

/** Raises this node's beat and reads all rows that are up. Returns undefined if this node's row is not up. */
export async function beatAndList(client: pg.ClientBase, id: number): Promise<NodeRow[] | undefined> {
  const { rows } = await client.query({
    name: 'beat',
    text: `WITH mine AS (UPDATE nodes SET beats = beats + 1 WHERE id = $1 AND state = 'up' RETURNING id)
      SELECT id, name, process, beats, EXISTS (SELECT FROM mine) AS "isUp" FROM nodes WHERE state = 'up'`,
    values: [id],
  })
  return rows[0]?.isUp ? rows : undefined
}

export async function isNodeUp(client: pg.ClientBase, id: number): Promise<boolean> {
  const { rowCount } = await client.query("SELECT FROM nodes WHERE id = $1 AND state = 'up'", [id])
  return rowCount === 1
}

/** Returns false if the node has beaten since, or was declared dead by another node. Fails with 55P03 if a session holds the row. */
export async function updateDead(client: pg.ClientBase, node: NodeRow, at: number): Promise<boolean> {
  const { rowCount } = await client.query(
    `WITH silent AS (SELECT id FROM nodes WHERE id = $1 AND beats = $2 AND state = 'up' FOR UPDATE NOWAIT)
     UPDATE nodes SET state = 'dead', ended_at = $3 FROM silent WHERE nodes.id = silent.id`,
    [node.id, node.beats, at],
  )
  return rowCount === 1
}

export async function updateClusterLeft(client: pg.ClientBase, id: number, at: number): Promise<void> {
  await client.query("UPDATE nodes SET state = 'left', ended_at = $2 WHERE id = $1 AND state = 'up'", [id, at])
}

/** Ends all database sessions of a process, so that it can no longer hold locks or commit. */
export async function endSessionsOf(client: pg.ClientBase, process: string): Promise<void> {
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = $1 AND pid <> pg_backend_pid()`,
    [sessionNameOf(process)],
  )
}

interface ServerStart {
  readonly startedAgoMs: number
  /** PostgreSQL has replayed transactions since its start, as a standby that was promoted has. */
  readonly hasRecovered: boolean
}

/** Says for how long PostgreSQL has been running, by its own clock, and whether it began as a standby. */
export async function findServerStart(client: pg.ClientBase): Promise<ServerStart> {
  const { rows } = await client.query(
    `SELECT 1000 * extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float8 AS "startedAgoMs",
       pg_last_xact_replay_timestamp() IS NOT NULL AS "hasRecovered"`,
  )
  return rows[0]
}
