// Whether a device is connected, in SQL: the row of the node that its endpoint points at says so, and no column of the endpoint does.
import { type RawBuilder, sql } from 'kysely'

/**
 * 1 or 0, in a query with `leftJoin('nodes as d', 'd.id', 'e.node_id')`. The end of a node is a write to one row, and disconnects
 * all of its devices. A row that is gone counts as ended.
 */
export const isConnected = sql<number>`case d.state when 'up' then 1 else 0 end`

/** The time of the last connect or disconnect, in a query with the same join. The end of the node is a disconnect. */
export const connectionTime: RawBuilder<number | null> =
  sql`case when d.ended_at > e.connection_time then d.ended_at else e.connection_time end`
