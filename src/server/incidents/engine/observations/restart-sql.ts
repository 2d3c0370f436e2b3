// SQL that says which disconnects were restarts on purpose. [contract 12.when]
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { restartGraceMs } from '../../../../contract/fleet/commands.ts'
import { slackMs } from './input.ts'

/** Disconnects within this time after the one of a restart do not count either; in milliseconds. */
export const restartGrace: RawBuilder<number> = sql.lit(restartGraceMs)

/** For the time of a disconnect: whether the reboot in the row `o` of `operations` was sent before it, and had not expired. */
export const endsOnPurpose = (disconnectedAt: RawBuilder<unknown>): RawBuilder<SqlBool> =>
  sql`(o.sent_at is not null and ${disconnectedAt} >= o.sent_at - ${sql.lit(slackMs)} and ${disconnectedAt} <= o.deadline)`
