// The file as it came, with what becomes or became of each row.
import { answerFile } from '../../../csv/answer-file.ts'
import type { PlannedRooms } from '../../../csv/import-rooms.ts'
import { type ImportedRow, resultText } from '../../../csv/run-import.ts'

type AnsweredRow = Pick<ImportedRow, 'row' | 'kind' | 'id' | 'result' | 'notes'>

export function resultCsv({ sheet }: PlannedRooms, rows: readonly AnsweredRow[], organisation: string): string {
  const rowAt = new Map(rows.map((row) => [row.row, row]))
  // A saved file gets a byte order mark in any case.
  const file = { ...sheet.file, hasByteOrderMark: false }
  return answerFile({ ...sheet, file }, ['organisation', 'room_id', 'result'], (number) => {
    const row = rowAt.get(number)
    if (!row) return {}
    const isRoom = row.kind === 'room' && row.id !== undefined
    return { result: resultText(row), ...(isRoom && { organisation, room_id: String(row.id) }) }
  })
}
