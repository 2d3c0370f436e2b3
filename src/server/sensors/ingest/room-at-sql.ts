// SQL that finds the room in which an endpoint measured a sample, for rollups and for the history. [contract D.35]
import { type RawBuilder, sql } from 'kysely'

/** For a query whose samples are called `s`; 0 means no room. Stays overlap if the clock was set back: then the later one counts. */
export const roomAtTheTime: RawBuilder<number> = sql<number>`coalesce((
  select r.room_id from endpoint_rooms r
  where r.org = s.org and r.endpoint = s.endpoint
    and r.since <= s.timestamp and (r.until is null or r.until > s.timestamp)
  order by r.since desc limit 1
), 0)`
