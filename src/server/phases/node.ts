// Makes the process a node: the only one on SQLite, or one of several on PostgreSQL.
import { hostname } from 'node:os'
import { LocalBus, type MessageBus } from '../bus/message-bus.ts'
import { requirePublicUrl } from '../config/require-public-url.ts'
import type { ServeOptions } from '../config/server-options.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
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
  readonly onLost: () => void
}

export interface NodeIdentity {
  readonly name: string
  /** Names the process, also among earlier and later ones with the same name. */
  readonly process: string
}

export function nodeIdentity({ nodeName, port }: ServeOptions): NodeIdentity {
  const process = newProcessName()
  // A port that is not known yet would not tell two servers of a host apart.
  return { process, name: nodeName ?? `${hostname()}:${port === 0 ? process : port}` }
}

/** The place of this process at its database: first it locks the database, then, after migrations, it takes a row. */
export interface NodePlace {
  /** Names the sessions of the process in PostgreSQL. */
  readonly sessionName: string
  enter(db: Database): Promise<{ readonly node: ThisNode; readonly bus: MessageBus }>
  leave(): Promise<void>
}

/** Keeps away other servers on SQLite, and on PostgreSQL all programs that need the database for themselves. */
export async function lockDatabase(
  stack: AsyncDisposableStack,
  { options, name, process, log, clock, onLost }: NodeOptions,
): Promise<NodePlace> {
  const sessionName = sessionNameOf(process)
  const { databaseUrl: url } = options
  // An empty option counts as absent.
  if (!url) {
    stack.defer(await takeServerLock(options))
    return singlePlace(clock, { name, process, sessionName })
  }
  const session = await ControlSession.open({ url, applicationName: sessionName, onTaken: onLost })
  stack.defer(() => session.close())
  let membership: Membership
  return {
    sessionName,
    async enter(db) {
      const checkOthers = (others: readonly { readonly name: string }[]) => requirePublicUrl(options, others)
      membership = await Membership.start(session, { url, name, process, clock, log, checkOthers, onTaken: onLost })
      db.fence = new NodeFence(db, membership.node, () => membership.noteFenced())
      return membership
    },
    leave: () => membership.leave(),
  }
}

function singlePlace(
  clock: Clock,
  { name, process, sessionName }: NodeIdentity & { readonly sessionName: string },
): NodePlace {
  let leave = async () => {}
  return {
    sessionName,
    async enter(db) {
      const node = await startSingleNode(db, clock, { name, process })
      leave = () => leaveSingleNode(db, clock, node)
      return { node, bus: new LocalBus(() => node.id) }
    },
    leave: () => leave(),
  }
}
