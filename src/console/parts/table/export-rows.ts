// Saves rows of a list as CSV, as the user sees them: the chosen columns, the words on the screen, the search, and selected rows only.
// The server's CSV of a list has its filters, but none of these [contract 6.csv].
import { csvRow } from '../../../contract/csv.ts'
import { saveCsv } from '../page/save-file.ts'
import { localDay } from '../text/time.tsx'
import type { Column } from './column.ts'

export function rowsCsv<T>(columns: readonly Column<T>[], rows: readonly T[]): string {
  const written = columns.flatMap(({ title, text }) => (text ? [{ title, text }] : []))
  return [written.map(({ title }) => title), ...rows.map((row) => written.map(({ text }) => text(row)))]
    .map(csvRow)
    .join('')
}

/** The file is named after the list and the day. */
export const exportRows = <T>(list: string, columns: readonly Column<T>[], rows: readonly T[]): void =>
  saveCsv(rowsCsv(columns, rows), `${list} ${localDay(Date.now())}.csv`)
