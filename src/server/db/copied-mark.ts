// The mark of a database that `roomkeeper copy` has copied elsewhere. A server on it would lose what was changed in the copy since.
import { resolve } from 'node:path'
import type { DatabaseOptions } from '../config/server-options.ts'
import { withoutPassword } from '../config/server-record.ts'
import { StartupError } from '../core/failure.ts'
import { shellWord } from '../core/text.ts'
import type { Database } from './db.ts'
import { systemQueryOne, systemWrite } from './system.ts'

/** The name of its row in the table of settings. The first release has that table, so every database can be marked. */
const markName = 'copied to'

export interface CopiedMark {
  /** The absolute data folder of SQLite, or the address of PostgreSQL without its password. */
  readonly to: string
  readonly at: string
}

const findMark = systemQueryOne((db, _: object) =>
  db.selectFrom('settings').select('value').where('name', '=', markName),
)
const insertMark = systemWrite((db, p: { value: string }) =>
  db
    .insertInto('settings')
    .values({ name: markName, value: p.value })
    .onConflict((c) => c.column('name').doUpdateSet({ value: p.value })),
)
const deleteMark = systemWrite((db, _: object) => db.deleteFrom('settings').where('name', '=', markName))

export async function findCopiedMark(db: Database): Promise<CopiedMark | undefined> {
  const row = await findMark(db.system)
  return row && JSON.parse(row.value)
}

export async function writeCopiedMark(db: Database, mark: CopiedMark): Promise<void> {
  await db.systemTransaction((tx) => insertMark(tx, { value: JSON.stringify(mark) }))
}

export async function deleteCopiedMark(db: Database): Promise<void> {
  await db.systemTransaction((tx) => deleteMark(tx))
}

export async function refuseCopied(db: Database, place: DatabaseOptions): Promise<void> {
  const mark = await findCopiedMark(db)
  if (mark) throw new StartupError(copiedSentences(place, mark))
}

/** Says where the data is now, how to use it there, and how to use this database again. */
export function copiedSentences(place: DatabaseOptions, { to, at }: CopiedMark): string {
  const here = place.databaseUrl ? 'This PostgreSQL database' : `The SQLite database in ${place.dataDir}`
  const use = isPostgresUrl(to)
    ? '--database-url with that address'
    : `--data-dir ${shellWord(to)} and no --database-url`
  return `${here} was copied to ${to} on ${at}, and is no longer in use. Use ${use}. ${unmarkHint(place)}`
}

const unmarkHint = (place: DatabaseOptions): string =>
  `To use this database again, without what was changed in the other one since, run "roomkeeper copy --unmark --from ${shellWord(databasePlaceText(place, place.dataDir))}".`

export const isPostgresUrl = (place: string): boolean => /^postgres(ql)?:/.test(place)

/** Names a database without a secret. */
export const databasePlaceText = ({ databaseUrl, dataDir }: DatabaseOptions, folder = resolve(dataDir)): string =>
  databaseUrl ? withoutPassword(databaseUrl) : folder
