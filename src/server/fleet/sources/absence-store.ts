// When sources were not CONNECTED: then nothing is known about their devices. [contract 15.presence]
import { sql } from 'kysely'
import { query, writeAny } from '../../db/queries/query.ts'
import { systemWrite } from '../../db/system.ts'

type Absence = { org: number; source: string; at: number }

/**
 * An absence that has not ended goes on, and so does one that started in the same millisecond. Call it after a write to the row of the source,
 * which the reports of its gateway and the changes of people wait for.
 */
export const startAbsence = writeAny((db, p: Absence) =>
  db
    .insertInto('source_absences')
    .columns(['org', 'source_id', 'since', 'until'])
    .expression(
      db
        .selectNoFrom([
          sql<number>`cast(${p.org} as integer)`.as('org'),
          sql<string>`cast(${p.source} as text)`.as('source_id'),
          sql<number>`cast(${p.at} as bigint)`.as('since'),
          sql<number | null>`cast(null as bigint)`.as('until'),
        ])
        .where((e) =>
          e.not(
            e.exists(
              e
                .selectFrom('source_absences as open')
                .select('open.since')
                .where('open.org', '=', p.org)
                .where('open.source_id', '=', p.source)
                .where('open.until', 'is', null),
            ),
          ),
        ),
    )
    .onConflict((c) => c.columns(['org', 'source_id', 'since']).doUpdateSet({ until: null })),
)

export const endAbsence = writeAny((db, p: Absence) =>
  db
    .updateTable('source_absences')
    .set({ until: p.at })
    .where('org', '=', p.org)
    .where('source_id', '=', p.source)
    .where('until', 'is', null),
)

/** Lists the absences that had not ended before a time, the oldest first. */
export const listAbsences = query((db, p: { org: number; source: string; from: number }) =>
  db
    .selectFrom('source_absences')
    .select(['since', 'until'])
    .where('org', '=', p.org)
    .where('source_id', '=', p.source)
    .where((e) => e.or([e('until', 'is', null), e('until', '>=', p.from)]))
    .orderBy('since'),
)

/** Deletes absences of all organisations that ended before a time. */
export const deleteAbsencesBefore = systemWrite((db, p: { before: number }) =>
  db.deleteFrom('source_absences').where('until', '<', p.before),
)
