// Makes the process a node: the only one on SQLite, or one of several on PostgreSQL.
import { hostname } from 'node:os'
import { LocalBus, type MessageBus } from '../bus/message-bus.ts'
import { requirePublicUrl } from '../config/require-public-url.ts'
import type { ServeOptions } from '../config/server-options.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { TimeLimits } from '../core/time-limits.ts'
import type { Database } from '../db/db.ts'
import { takeServerLock } from '../db/server-lock.ts'
import { ControlSession } from '../nodes/control-session.ts'
import { Membership } from '../nodes/membership.ts'
import { NodeFence } from '../nodes/node-fence.ts'
import { leaveSingleNode, startSingleNode } from '../nodes/single-node.ts'
import { newProcessName, sessionNameOf, type ThisNode } from '../nodes/this-node.ts'

interface NodeOptions extends NodeIdentity {
  readonly options: ServeOptions
  readonly log: Log
  readonly clock: Clock
  readonly limits: TimeLimits
  readonly onLost: () => void
}

interface NodeIdentity {
  readonly name: string
  /** Differs from that of earlier and later processes of a node with the same name. */
  readonly processName: string
}

export function nodeIdentity({ nodeName, port }: ServeOptions): NodeIdentity {
  const processName = newProcessName()
  // A port that is not known yet would not tell two servers of a host apart.
  return { processName, name: nodeName ?? `${hostname()}:${port === 0 ? processName : port}` }
}

/** Joins and leaves the nodes of a database. The database is locked first; the row is taken after the migrations. */
interface NodeLifecycle {
  /** Names the sessions of the process in PostgreSQL. */
  readonly sessionName: string
  enter(db: Database): Promise<EnteredNode>
}

interface EnteredNode {
  readonly node: ThisNode
  readonly bus: MessageBus
  leave(): Promise<void>
}

/** Keeps away other servers on SQLite, and on PostgreSQL all programs that need the database for themselves. */
export async function lockDatabase(
  stack: AsyncDisposableStack,
  { options, name, processName, log, clock, limits, onLost }: NodeOptions,
): Promise<NodeLifecycle> {
  const sessionName = sessionNameOf(processName)
  const { databaseUrl: url } = options
  // An empty option counts as absent.
  if (!url) {
    stack.defer(await takeServerLock(options))
    return singleNodeLifecycle(clock, { name, processName, sessionName })
  }
  const session = await ControlSession.open({ url, applicationName: sessionName, limits, onTaken: onLost })
  stack.defer(() => session.close())
  return {
    sessionName,
    async enter(db) {
      const checkOthers = (others: readonly { readonly name: string }[]) => requirePublicUrl(options, others)
      const membership = await Membership.start(session, {
        url,
        name,
        processName,
        clock,
        limits,
        log,
        checkOthers,
        onTaken: onLost,
      })
      db.fence = new NodeFence(db, membership.node, () => membership.noteFenced())
      return membership
    },
  }
}

function singleNodeLifecycle(
  clock: Clock,
  { name, processName, sessionName }: NodeIdentity & { readonly sessionName: string },
): NodeLifecycle {
  return {
    sessionName,
    async enter(db) {
      const node = await startSingleNode(db, clock, { name, processName })
      return { node, bus: new LocalBus(() => node.id), leave: () => leaveSingleNode(db, clock, node) }
    },
  }
}
