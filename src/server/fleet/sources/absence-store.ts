// When sources were not CONNECTED: then nothing is known about their devices. [contract 15.presence]
import { query, writeAny } from '../../db/queries/query.ts'
import { systemWrite } from '../../db/system.ts'

type Absence = { org: number; source: string; at: number }

/** An absence that started in the same millisecond goes on. */
export const startAbsence = writeAny((db, p: Absence) =>
  db
    .insertInto('source_absences')
    .values({ org: p.org, source_id: p.source, since: p.at, until: null })
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
