// SQL that reads a list from the status of an endpoint.
import { type RawBuilder, sql } from 'kysely'
import type { EngineName } from '../engine.ts'

/** The lists of a status report that statements read without the rest of the status. */
type ReportedList = 'actions' | 'configKeys' | 'supports'

/**
 * The list as JSON text, or null if the device does not report it, in a query of `endpoints as e`. Few devices report `actions`, and a search for
 * the name costs less than parsing the status.
 */
export const reportedList = (engine: EngineName, name: ReportedList): RawBuilder<string | null> =>
  engine === 'postgres'
    ? sql`case when strpos(e.status, ${sql.lit(`"${name}"`)}) > 0 then (e.status::jsonb -> ${sql.lit(name)})::text end`
    : sql`case when instr(e.status, ${sql.lit(`"${name}"`)}) > 0 then e.status ->> ${sql.lit(`$.${name}`)} end`
