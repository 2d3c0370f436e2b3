// When sources were not CONNECTED: then nothing is known about their devices. [contract 15.presence]
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { isAnyOf } from '../../db/queries/any-of.ts'
import { query, write, writeAny } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
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

const copyAbsences = (db: Kysely<DatabaseSchema>, p: { org: number; at: number }, isTheirs: RawBuilder<SqlBool>) =>
  db
    .insertInto('former_source_absences')
    .columns(['org', 'source_id', 'since', 'until', 'deleted_at'])
    .expression((q) =>
      q
        .selectFrom('source_absences as a')
        .innerJoin('sources as s', (j) => j.onRef('s.org', '=', 'a.org').onRef('s.id', '=', 'a.source_id'))
        .select(['a.org', 'a.source_id', 'a.since'])
        .select([
          sql<number>`coalesce(a.until, cast(${p.at} as bigint))`.as('until'),
          sql<number>`cast(${p.at} as bigint)`.as('deleted_at'),
        ])
        .where('a.org', '=', p.org)
        .where(isTheirs),
    )
    .onConflict((c) => c.doNothing())

/** Keeps the absences of a source for reports. Call it before the source is deleted. [contract 10.past] */
export const keepAbsences = write((db, p: Absence) => copyAbsences(db, p, sql<SqlBool>`s.id = ${p.source}`))

/** Does the same for the sources of a gateway, which are deleted with it. */
export const keepAbsencesOfGateway = write((db, p: { org: number; gateway: string; at: number }) =>
  copyAbsences(db, p, sql<SqlBool>`s.gateway_id = ${p.gateway}`),
)

/** Does the same for the gateways in a room. */
export const keepAbsencesInRoom = write((db, p: { org: number; room: number; at: number }) =>
  copyAbsences(
    db,
    p,
    sql<SqlBool>`s.gateway_id in (select g.id from endpoints g where g.org = s.org and g.room_id = ${p.room})`,
  ),
)

/** Lists the absences of sources that had not ended before a time. `deleted_at` is null while the source exists. */
export const listAbsencesOfSources = query((db, p: { org: number; sources: readonly string[]; from: number }, engine) =>
  db
    .selectFrom('source_absences')
    .select(['source_id', 'since', 'until', sql<number | null>`cast(null as bigint)`.as('deleted_at')])
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'source_id', p.sources))
    .where((e) => e.or([e('until', 'is', null), e('until', '>=', p.from)]))
    .unionAll(
      db
        .selectFrom('former_source_absences')
        .select(['source_id', 'since', 'until', 'deleted_at'])
        .where('org', '=', p.org)
        .where(isAnyOf(engine, 'source_id', p.sources))
        .where('until', '>=', p.from),
    )
    .orderBy('source_id')
    .orderBy('since'),
)

/** Deletes absences of all organisations that ended before a time. */
export const deleteAbsencesBefore = systemWrite((db, p: { before: number }) =>
  db.deleteFrom('source_absences').where('until', '<', p.before),
)
export const deleteFormerAbsencesBefore = systemWrite((db, p: { before: number }) =>
  db.deleteFrom('former_source_absences').where('until', '<', p.before),
)
