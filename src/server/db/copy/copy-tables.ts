// Copies every row of every table from one database to another, and compares the numbers of rows.
import { StartupError } from '../../core/failure.ts'
import { listTables, type TableShape } from './catalog.ts'
import { continueNumbering, countRows, hasRows, insertRows, readBatches, type TableSide } from './table-rows.ts'

export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

/** A command that only opened the database may have written here, so these rows do not make it a used one. */
const settingsTable = 'settings'

/** The content of log bundles, which only PostgreSQL stores in a table. It is too large for batches of rows. */
const contentTable = 'bundle_chunks'

/** Names a table that has rows; undefined if the database is empty. */
export async function findUsedTable(side: TableSide): Promise<string | undefined> {
  for (const { name } of await listTables(side, side.engine)) {
    if (name !== settingsTable && (await hasRows(side, name))) return name
  }
  return undefined
}

/** Both sides are inside a transaction, and the target is empty. The content of log bundles is left to the caller. */
export async function copyTables(
  source: TableSide,
  target: TableSide,
  onCopied: (copied: CopiedTable) => void,
): Promise<CopiedTable[]> {
  const shapesOf = async (side: TableSide) =>
    (await listTables(side, side.engine)).filter(({ name }) => name !== contentTable)
  const shapes = await shapesOf(target)
  refuseDifference(await shapesOf(source), shapes)
  await target.kysely.deleteFrom(settingsTable).execute()
  const copied: CopiedTable[] = []
  for (const shape of shapes) {
    try {
      for await (const rows of readBatches(source, shape)) await insertRows(target, shape, rows)
    } catch (error) {
      throw new StartupError(`Cannot copy the table ${shape.name}: ${(error as Error).message}. Nothing was copied.`)
    }
    await continueNumbering(target, shape)
    const [expected, rows] = [await countRows(source, shape.name), await countRows(target, shape.name)]
    if (rows !== expected) {
      throw new StartupError(
        `The copy of the table ${shape.name} has ${rows} rows instead of ${expected}. Nothing was copied.`,
      )
    }
    copied.push({ table: shape.name, rows })
    onCopied({ table: shape.name, rows })
  }
  return copied
}

/** Both databases were migrated by this program, so a difference is a mistake in a migration. */
function refuseDifference(source: readonly TableShape[], target: readonly TableShape[]): void {
  const describe = (shapes: readonly TableShape[]) =>
    shapes.map(({ name, columns }) => `${name}(${columns.map((c) => c.name).sort()})`).sort()
  const [a, b] = [describe(source), describe(target)]
  const difference = [...a.filter((t) => !b.includes(t)), ...b.filter((t) => !a.includes(t))]
  if (difference.length > 0) throw new Error(`the two databases have different tables: ${difference.join('; ')}`)
}
