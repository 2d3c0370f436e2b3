// The bus of a command, which sends messages to the nodes of a database and hears none.
import { CompiledQuery } from 'kysely'
import { LocalBus, type MessageBus } from '../bus/message-bus.ts'
import { PostgresBus } from '../bus/postgres-bus.ts'
import { timeLimits } from '../core/time-limits.ts'
import type { Database } from '../db/db.ts'
import { notifyAll } from './control-session.ts'
import { newProcessName } from './this-node.ts'

interface CommandBus {
  readonly bus: MessageBus
  /** Sends the messages that wait. Must be called before the database is closed. */
  flush(): Promise<void>
}

/** On SQLite no process listens. */
export function openCommandBus(db: Database): CommandBus {
  if (db.engine === 'sqlite') return { bus: new LocalBus(() => undefined), flush: async () => {} }
  const bus = new PostgresBus({
    process: newProcessName(),
    nodeId: () => undefined,
    notify: (notifications) => db.schema.executeQuery(CompiledQuery.raw(notifyAll, [notifications])),
    onError: () => {},
  })
  bus.connect({ isFirst: true })
  // The messages are hints, so a command does not wait long for them.
  return { bus, flush: () => bus.flush(timeLimits.commandFlushMs) }
}
