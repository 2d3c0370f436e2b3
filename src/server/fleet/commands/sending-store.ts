// SQL that finds the commands to send to devices and marks them as sent.

import { sql } from 'kysely'
import { isAnyOf } from '../../db/queries/any-of.ts'
import { wholeQuery, writeTelemetry } from '../../db/queries/query.ts'
import { systemQuery } from '../../db/system.ts'
import { commandColumns, isOpen, isUnacknowledged } from './store.ts'

/** The endpoint of the command points at the node. */
const isAtNode = (node: number) => sql<boolean>`exists (select 1 from endpoints as e
  where e.org = operations.org and e.id = operations.endpoint_id and e.node_id = ${node})`

/** Collecting logs takes long, so a device can acknowledge the command, restart, and have forgotten it. */
const isCollectingLogs = sql<boolean>`(type = 'COLLECT_LOGS' and state = 'ACKNOWLEDGED')`

/** A reboot that waits is not sent itself: its attempts are. */
const isSendable = sql<boolean>`(reboot_time is null or attempt_of is not null)`

/** A command that was sent over this connection before `overdue` and not acknowledged is sent again. */
interface ResendRule {
  readonly now: number
  readonly overdue: number
  /** Connections are compared by number, because times of two nodes cannot be compared. */
  readonly connection: number
}

/** Lists the commands to send to a device, the oldest first, without those sent a moment ago over this connection. */
export const listSendableCommands = wholeQuery((db, p: ResendRule & { org: number; endpoint: string }) =>
  db
    .selectFrom('operations')
    .select(commandColumns)
    .where('org', '=', p.org)
    .where('endpoint_id', '=', p.endpoint)
    .where((e) => {
      const onAnEarlierConnection = e('told_connection', '<', p.connection)
      return e.or([
        e('state', '=', 'QUEUED'),
        e.and([e('state', '=', 'SENT'), e.or([onAnEarlierConnection, e('told_at', '<', p.overdue)])]),
        e.and([isCollectingLogs, onAnEarlierConnection]),
      ])
    })
    .where(isSendable)
    .where('deadline', '>', p.now)
    .orderBy('created_at')
    .orderBy('id'),
)

/** Lists the endpoints of a node with a command that was sent or created before the given time and not acknowledged. */
export const listOverdueEndpoints = systemQuery((db, p: { node: number; now: number; before: number }) =>
  db
    .selectFrom('operations')
    .select('endpoint_id')
    .distinct()
    .where(isOpen)
    .where('deadline', '>', p.now)
    .where(isUnacknowledged)
    .where(isSendable)
    .where((e) => e(e.fn.coalesce('told_at', 'created_at'), '<', p.before))
    .where(isAtNode(p.node)),
)

/** Lists the endpoints of a node with a command that was never sent. */
export const listQueuedEndpoints = systemQuery((db, p: { node: number; now: number }) =>
  db
    .selectFrom('operations')
    .select('endpoint_id')
    .distinct()
    .where(isOpen)
    .where('deadline', '>', p.now)
    .where('state', '=', 'QUEUED')
    .where(isSendable)
    .where(isAtNode(p.node)),
)

type Sending = { org: number; ids: readonly string[]; at: number; endpoint: string; node: number; connection: number }

/**
 * Marks commands as sent over a connection and returns them. A cancelled command is not returned; a returned one can no longer be
 * cancelled. Nothing is sent over a connection that another one has replaced.
 */
export const updateToSent = writeTelemetry((db, p: Sending, engine) =>
  db
    .updateTable('operations')
    .set((e) => ({
      state: sql<string>`case state when 'QUEUED' then 'SENT' else state end`,
      updated_at: sql<number>`case state when 'QUEUED' then ${p.at} else updated_at end`,
      sent_at: e.fn.coalesce('sent_at', e.val(p.at)),
      told_at: p.at,
      sent_connection: e.fn.coalesce('sent_connection', e.val(p.connection)),
      told_connection: p.connection,
    }))
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'id', p.ids))
    .where((e) => e.or([isUnacknowledged, isCollectingLogs]))
    .where(isSendable)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('endpoints')
          .select('endpoints.id')
          .where('endpoints.org', '=', p.org)
          .where('endpoints.id', '=', p.endpoint)
          .where('endpoints.node_id', '=', p.node)
          .where('endpoints.connection', '=', p.connection),
      ),
    )
    .returning(commandColumns),
)
