// Saves rows of a list as CSV.
import { csvRow } from '../../../contract/csv.ts'
import { saveFile } from '../page/save-file.ts'
import type { Column } from './column.ts'

export function rowsCsv<T>(columns: readonly Column<T>[], rows: readonly T[]): string {
  const written = columns.flatMap(({ title, text }) => (text ? [{ title, text }] : []))
  return [written.map(({ title }) => title), ...rows.map((row) => written.map(({ text }) => text(row)))]
    .map(csvRow)
    .join('')
}

export const exportRows = <T>(name: string, columns: readonly Column<T>[], rows: readonly T[]): void =>
  saveFile(new Blob([rowsCsv(columns, rows)], { type: 'text/csv' }), name)
