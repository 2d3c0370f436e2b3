// Writes lines of CSV (RFC 4180) that are safe to open in a spreadsheet.
import { withoutDirectionMarks } from './words.ts'

/** Excel takes a file without this mark for one in the encoding of its system. */
export const byteOrderMark = '\ufeff'

export const csvRow = (cells: readonly string[]): string => `${csvCells(cells)}\r\n`

/** Cells of a line that others follow. */
export const csvCells = (cells: readonly string[]): string =>
  writtenCells(
    cells.map((text) => (plain.test(text) ? text : withoutDirectionMarks(text))),
    ',',
  )

/** A row of a file that people can import again: its texts come back as they were, with their marks of direction. */
export const importableRow = (cells: readonly string[], separator: string): string =>
  `${writtenCells(cells, separator)}\r\n`

/** Most cells need no quotation marks, no apostrophe and no other change. Checking for that first halves the time of a row. */
const plain = /^(?:[A-Za-z0-9][\w .:()/-]*)?$/

const writtenCells = (cells: readonly string[], separator: string) =>
  cells.map((text) => (plain.test(text) ? text : quoted(withApostrophe(text), separator))).join(separator)

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
const formulaStart = /^'*[=+\-@＝＋－＠\t\r\n]/

/**
 * A spreadsheet would run a text such as `=HYPERLINK(…)` as a formula: an apostrophe in front of it makes it a text. A mark of direction would
 * hide the start of a formula. A text that has such an apostrophe of its own gets another, or `withoutApostrophe` would take the wrong one.
 */
const withApostrophe = (text: string) =>
  formulaStart.test(withoutDirectionMarks(text)) && !number.test(text) ? `'${text}` : text

/** Takes off the apostrophe that `withApostrophe` put in front of a text. */
export const withoutApostrophe = (text: string): string =>
  text.startsWith("'") && formulaStart.test(withoutDirectionMarks(text)) ? text.slice(1) : text

const quoted = (text: string, separator: string) =>
  /["\r\n]/.test(text) || text.includes(separator) ? `"${text.replaceAll('"', '""')}"` : text
