// How a start takes a row among the nodes of a PostgreSQL, and which earlier rows it declares dead.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { StartupError } from '../core/failure.ts'
import { programVersion, versionText } from '../core/program-files.ts'
import type { TimeLimits } from '../core/time-limits.ts'
import {
  endSessionsOf,
  findServerStart,
  insertClusterNode,
  listUpNodes,
  lockJoining,
  lockNode,
  type NodeRow,
  updateDead,
} from './cluster-store.ts'

const namePauseMs = 200

/** Thrown when another living node has the name. */
export class NameTaken extends StartupError {}

export interface JoinRequest {
  readonly name: string
  readonly processName: string
  readonly at: () => number
  readonly limits: TimeLimits
  /** Throws if this process must not join the nodes that are up. */
  readonly checkOthers: (others: readonly NodeRow[]) => void
}

interface Joined {
  readonly id: number
  /** The nodes that this start declared dead. */
  readonly dead: readonly NodeRow[]
}

/**
 * Waits a while for the name: PostgreSQL releases the lock of a killed process within milliseconds, but a start of the same name may be
 * quicker. Ends the database sessions of nodes that it declares dead.
 */
export async function joinNodes(client: pg.ClientBase, request: JoinRequest): Promise<Joined> {
  const since = performance.now()
  for (;;) {
    const waitedMs = performance.now() - since
    const joined = await inTransaction(client, () => tryToJoin(client, request, waitedMs))
    if (typeof joined === 'object') {
      for (const { process } of joined.dead) await endSessionsOf(client, process)
      return joined
    }
    if (joined === 'name taken' && performance.now() - since > request.limits.nodeNameMs) {
      throw new NameTaken(
        `A node with the name ${request.name} is running on this database. Stop it, or give this one another name with --node-name. (If its machine vanished, PostgreSQL notices after 25 seconds: try again then.)`,
      )
    }
    await sleep(namePauseMs)
  }
}

async function tryToJoin(
  client: pg.ClientBase,
  { name, processName, at, limits, checkOthers }: JoinRequest,
  waitedMs: number,
): Promise<Joined | 'name taken' | 'too early'> {
  await lockJoining(client)
  const up = await listUpNodes(client)
  const isOtherUp = up.some(({ isLocked }) => isLocked)
  const dead: NodeRow[] = []
  for (const row of up) {
    if (row.isLocked && row.name === name) return 'name taken'
    // While another node lives, it is the one to judge: it knows how long a row has been silent.
    if (row.isLocked || (isOtherUp && row.name !== name)) continue
    dead.push(row)
  }
  checkOthers(up.filter(({ isLocked }) => isLocked))
  if (dead.length > 0 && (await mayHaveLostLocks(client, waitedMs, limits))) return 'too early'
  for (const row of dead) await updateDead(client, row, at())
  const id = await insertClusterNode(client, {
    name,
    process: processName,
    version: versionText(programVersion()),
    at: at(),
  })
  if (!(await lockNode(client, id))) throw new Error('the lock of a new node is taken')
  return { id, dead }
}

/**
 * All nodes lose their locks when PostgreSQL starts, and when a standby takes its place. When a standby was promoted is not known,
 * so the time that this start has waited counts there. Living nodes take their locks again within `nodeRelockMs`.
 */
async function mayHaveLostLocks(
  client: pg.ClientBase,
  waitedMs: number,
  { nodeRelockMs }: TimeLimits,
): Promise<boolean> {
  const { startedAgoMs, hasRecovered } = await findServerStart(client)
  return startedAgoMs < nodeRelockMs || (hasRecovered && waitedMs < nodeRelockMs)
}

async function inTransaction<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN')
  try {
    const result = await work()
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}
