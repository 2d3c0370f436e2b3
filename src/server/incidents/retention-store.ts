// Holds the SQL that deletes old incidents of all organisations.
import { sql } from 'kysely'
import { systemWrite } from '../db/system.ts'

/**
 * Deletes some incidents that ended and did not change since a time, with their subjects and timelines, and returns them. One that a person resolved stays
 * while a finding belongs to it: without the row, its cause would open a new incident.
 */
export const deleteEndedIncidents = systemWrite((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('incidents')
    .where(
      sql<boolean>`(org, id) in (select i.org, i.id from incidents i
        where i.updated_at < ${p.before} and i.state in ('RESOLVED', 'MERGED')
        and not exists (select 1 from findings f where f.org = i.org and f.incident_id = i.id)
        limit ${p.limit})`,
    )
    .returning('id'),
)
