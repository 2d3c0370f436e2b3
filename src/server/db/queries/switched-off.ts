// SQL that finds the commands which switch a device off: the device can leave the network on purpose. [contract 8.power]
import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** In a query of `operations as o`. The payload is the JSON of `powerPayload`. */
export const switchesOff: RawBuilder<SqlBool> = sql`(o.type = 'POWER' and o.payload = '{"on":false}')`
