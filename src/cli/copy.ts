// `roomkeeper copy`: copies everything from one database to another, between SQLite and PostgreSQL.
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { DatabaseOptions } from '../server/config/server-options.ts'
import { StartupError } from '../server/core/failure.ts'
import { shellWord } from '../server/core/text.ts'
import { databasePlaceText, isPostgresUrl } from '../server/db/copied-mark.ts'
import { hasDatabase } from '../server/db/open.ts'
import type { CopiedBundles } from '../server/maintenance/copy-bundles.ts'
import { copyDatabase, unmarkDatabase } from '../server/maintenance/copy-database.ts'
import { countText } from '../server/maintenance/count-text.ts'
import { checkLineText } from './check.ts'
import { printResult, type Terminal } from './terminal/terminal.ts'

interface CopyOptions {
  readonly from?: string
  readonly to?: string
  readonly secretKeyFile?: string
  readonly secretKey?: string
  readonly rehearsal?: boolean
  readonly unmark?: boolean
  readonly json?: boolean
}

/** The addresses may contain passwords, so they can be given as variables too. */
export async function copyCommand(terminal: Terminal, options: CopyOptions): Promise<void> {
  if (options.unmark) return unmark(terminal, options)
  const { from, to, json, rehearsal: isRehearsal = false } = options
  if (from === undefined || to === undefined)
    throw new StartupError('Name both databases: --from and --to are each a data folder, or postgres://….')
  if (identityOf(from) === identityOf(to))
    throw new StartupError('--from and --to are the same database. Name two different ones.')
  if (!hasDatabase(placeOf(from, from)))
    throw new StartupError(`There is no database in ${from}. Name the data folder of the source with --from.`)
  const { secretKey } = options
  const secretKeyFile = options.secretKeyFile ?? keyFileFor(from, to)
  if (secretKey === undefined && !existsSync(secretKeyFile)) {
    throw new StartupError(
      `The secret key ${secretKeyFile} is missing. Copy it there from the data folder of the source, or name it with --secret-key-file.`,
    )
  }
  const keyFolder = dirname(secretKeyFile)
  const { tables, bundles, checks } = await copyDatabase({
    from: placeOf(from, folderOf(to) ?? keyFolder),
    to: placeOf(to, folderOf(from) ?? keyFolder),
    secretKeyFile,
    secretKey,
    isRehearsal,
    onCopied: ({ table, rows }) => {
      if (!json) terminal.write(`${table.padEnd(22)}${String(rows).padStart(12)} ${rows === 1 ? 'row' : 'rows'}`)
    },
  })
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  printResult(terminal, json, { tables, bundles, checks }, [
    `Copied ${countText(rows, 'row', 'rows')} of ${tables.length} tables; both databases have the same number of rows in each.`,
    ...bundleLines(bundles),
    ...checks.map(checkLineText),
    isRehearsal
      ? 'This was a rehearsal: servers go on with the source. Delete the copy before you copy for good.'
      : nextStep(from, to, options.secretKeyFile),
  ])
}

/** `--to` is ignored, because its variable may still be set. */
async function unmark(terminal: Terminal, { from, json }: CopyOptions): Promise<void> {
  if (from === undefined) throw new StartupError('Name the database with --from: a data folder, or postgres://….')
  const place = placeOf(from, '.')
  const { copiedTo, forgotten } = await unmarkDatabase(place)
  const other = copiedTo ?? forgotten
  const here = databasePlaceText(place, from)
  printResult(terminal, json, { copiedTo: copiedTo ?? null, forgotten: forgotten ?? null }, [
    other === undefined
      ? `${here} was not marked as copied. Nothing was changed.`
      : `A server may start on ${here} again. Changes made only in ${other} are missing here. Do not start a server there.`,
  ])
}

const folderOf = (place: string): string | undefined => (isPostgresUrl(place) ? undefined : place)

/** Opening PostgreSQL needs a data folder too: it is the one where the secret key is. */
const placeOf = (place: string, keyFolder: string): DatabaseOptions =>
  isPostgresUrl(place) ? { dataDir: keyFolder, databaseUrl: place } : { dataDir: place }

/** The key must be where the server will look for it after the copy. */
function keyFileFor(from: string, to: string): string {
  const folder = folderOf(to) ?? folderOf(from)
  if (folder === undefined)
    throw new StartupError('Both databases are PostgreSQL: name the secret key with --secret-key-file.')
  return join(folder, 'secret.key')
}

const bundleLines = ({ copied, missing }: CopiedBundles): string[] => [
  ...(copied > 0 ? [`Copied ${countText(copied, 'log bundle', 'log bundles')}.`] : []),
  ...(missing > 0
    ? [
        `${countText(missing, 'log bundle is', 'log bundles are')} not in the source, and cannot be downloaded from the copy.`,
      ]
    : []),
]

/** The server needs the options that led to the key and the data folder here. */
function nextStep(from: string, to: string, secretKeyFile: string | undefined): string {
  const folder = folderOf(to) ?? folderOf(from)
  const options = [
    ...(folder === undefined ? [] : [`--data-dir ${shellWord(folder)}`]),
    ...(isPostgresUrl(to) ? ['--database-url'] : []),
    ...(secretKeyFile === undefined ? [] : [`--secret-key-file ${shellWord(secretKeyFile)}`]),
  ]
  const start = `Next, start the server with ${new Intl.ListFormat('en-GB').format(options)}`
  return `${start}${isPostgresUrl(to) ? '' : ' and without --database-url'}. The source is marked as copied: a server refuses it.`
}

/** Compares folders without differences in spelling, and through symbolic links. */
function identityOf(place: string): string {
  if (isPostgresUrl(place)) return place
  return existsSync(place) ? realpathSync(place) : resolve(place)
}
