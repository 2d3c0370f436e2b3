// Writes lines of CSV (RFC 4180) that are safe to open in a spreadsheet.
import { withoutDirectionMarks } from './words.ts'

export const csvRow = (cells: readonly string[]): string => `${csvCells(cells)}\r\n`

/** Cells of a line that others follow. */
export const csvCells = (cells: readonly string[]): string => cells.map(cellText).join(',')

/** Characters that are sent in one piece. */
const maxChunkCharacters = 64 * 1024
/** A piece is also sent after so many batches, however short it is. */
const maxBatchesPerChunk = 10

/** Yields a header and one line for each item, gathered into pieces that are worth a write to a connection. */
export async function* csvChunks<T>(
  header: string,
  batches: AsyncIterable<Iterable<T>>,
  lineOf: (item: T) => string,
): AsyncGenerator<string> {
  let text = header
  let batchCount = 0
  for await (const batch of batches) {
    for (const item of batch) {
      text += lineOf(item)
      if (text.length < maxChunkCharacters) continue
      yield text
      text = ''
    }
    // Batches may have no items that the caller sees. Without this, a caller who has gone would be noticed only at the end.
    if (++batchCount % maxBatchesPerChunk > 0) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

const number = /^-?\d+(\.\d+)?$/
/** The wide forms are the same characters to a spreadsheet. */
const formulaStart = /^[=+\-@＝＋－＠\t\r\n]/

/**
 * A spreadsheet would run a text such as `=HYPERLINK(…)` as a formula: an apostrophe in front of it makes it a text. A mark of direction would
 * reverse the rest of the line, and hide the start of a formula.
 */
function cellText(stored: string): string {
  const text = withoutDirectionMarks(stored)
  const safe = formulaStart.test(text) && !number.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
