// The answer to an import: the file as it came, with what became of each row.
import { byteOrderMark, importableRow, withoutApostrophe } from '../contract/csv.ts'
import type { Sheet } from './columns.ts'

/** The cells to write into the columns of a row. An absent one stays as it came. */
export type AnswerCells<C extends string> = Partial<Readonly<Record<C, string>>>

/** Columns that the file does not have are added behind its own, so the answer can be imported again. */
export function answerFile<C extends string>(
  { file, places }: Sheet<C>,
  columns: readonly C[],
  answerOf: (row: number) => AnswerCells<C>,
): string {
  const added = columns.filter((column) => !places.has(column))
  const place = new Map([...places, ...added.map((column, index) => [column, file.header.length + index] as const)])
  const rows = file.rows.map(({ number, cells }) => {
    const answered = [...cells.map((cell) => withoutApostrophe(cell.trim())), ...added.map(() => '')]
    const answer = answerOf(number)
    for (const column of columns) {
      const text = answer[column]
      const index = place.get(column)
      if (text !== undefined && index !== undefined) answered[index] = text
    }
    return answered
  })
  const lines = [[...file.header, ...added], ...rows].map((cells) => importableRow(cells, file.separator))
  return `${file.hasByteOrderMark ? byteOrderMark : ''}${lines.join('')}`
}
