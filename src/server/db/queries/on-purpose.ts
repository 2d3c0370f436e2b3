// SQL that finds disconnects on purpose: devices that were restarted or switched off by a command. [contract 8.power] [contract 12.when]
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { restartGraceMs } from '../../../contract/fleet/commands.ts'

/** In a query of `operations as o`. The payload is the JSON of `powerPayload`. */
export const switchesOff: RawBuilder<SqlBool> = sql`(o.type = 'POWER' and o.payload = '{"on":false}')`

/** The clocks of the nodes that sent the command and noticed the disconnect differ a little. */
const clockSlackMs = 5000

/** For the time of a disconnect: whether the command in the row `o` of `operations` was sent before it, and had not expired. */
export const endsOnPurpose = (disconnectedAt: RawBuilder<unknown>): RawBuilder<SqlBool> =>
  sql`(o.sent_at is not null and ${disconnectedAt} >= o.sent_at - ${sql.lit(clockSlackMs)} and ${disconnectedAt} <= o.deadline)`

/** Disconnects within this time after the one of a restart do not count either; in milliseconds. */
export const restartGrace: RawBuilder<number> = sql.lit(restartGraceMs)

/** In a query of `endpoints as e`: whether a device that is not connected left the network because it was switched off. */
export const isSwitchedOff: RawBuilder<SqlBool> = sql`exists (select 1 from operations as o
  where o.org = e.org and o.endpoint_id = e.id and ${switchesOff} and ${endsOnPurpose(sql`e.connection_time`)})`
