// Reads a CSV file into rows of cells, within limits of size, and says at which row and column it is broken.
//
// Papa Parse is one small file that runs in browsers and in Node, and reads 4 MiB in a fraction of a second. csv-parse brings a copy of
// Node's Buffer into browsers, and needs several seconds.
import Papa from 'papaparse'
import { decodeText } from './decode-text.ts'
import { CsvError, type Mistake } from './mistakes.ts'

export const maxFileBytes = 4 * 1024 * 1024
const maxRows = 20_000
const maxColumns = 200
const maxCellCharacters = 10_000

export interface CsvFile {
  readonly separator: string
  readonly hasByteOrderMark: boolean
  readonly header: readonly string[]
  readonly rows: readonly CsvRow[]
}

export interface CsvRow {
  /** As a spreadsheet numbers it: the header is row 1. */
  readonly number: number
  /** As many as the header has. */
  readonly cells: readonly string[]
  /** The first column after those of the header in which the row has a text. */
  readonly extraColumn?: number
}

/** Refuses a file by its size before it is read. */
export function checkFileSize(bytes: number): void {
  if (bytes > maxFileBytes) {
    throw fileError(
      `The file has ${Math.ceil(bytes / 1024 / 1024)} MiB. A file has at most ${maxFileBytes / 1024 / 1024} MiB: split it.`,
    )
  }
}

/** `isColumn` says whether a header is known: the separator is the one with which most headers are. */
export function readCsv(bytes: Uint8Array, isColumn: (header: string) => boolean): CsvFile {
  checkFileSize(bytes.length)
  const { text, hasByteOrderMark, isDamaged } = decodeText(bytes)
  const lines = text.replaceAll(/\r\n?/g, '\n')
  const [, named] = /^sep=(.)\n/i.exec(lines) ?? []
  const body = named === undefined ? lines : lines.slice('sep=,\n'.length)
  const separator = named ?? separatorOf(body, isColumn)
  const [header, ...rows] = parse(body, separator)
  if (!header || header.cells.every((cell) => cell.trim() === '')) {
    throw fileError('The file is empty. Its first row must name the columns.')
  }
  if (isDamaged) throw new CsvError(damagedCells([header, ...rows]))
  return {
    separator,
    hasByteOrderMark,
    header: header.cells,
    rows: withHeaderWidth(
      rows.filter(({ cells }) => cells.some((cell) => cell.trim() !== '')),
      header.cells.length,
    ),
  }
}

const fileError = (reason: string) => new CsvError([{ reason }])

const separators = [',', ';', '\t']

function separatorOf(text: string, isColumn: (header: string) => boolean): string {
  const firstRow = (delimiter: string) =>
    Papa.parse<string[]>(text, { delimiter, newline: '\n', preview: 1 }).data[0] ?? []
  const scored = separators.map((separator) => {
    const cells = firstRow(separator)
    return { separator, known: cells.filter(isColumn).length, count: cells.length }
  })
  return scored.reduce((best, next) =>
    next.known > best.known || (next.known === best.known && next.count > best.count) ? next : best,
  ).separator
}

/** Stops at the first row that breaks a limit, or whose quotes are wrong: what follows cannot be told apart. */
function parse(text: string, delimiter: string): CsvRow[] {
  const rows: CsvRow[] = []
  let mistake: Mistake | undefined
  let rowStart = 0
  Papa.parse<string[]>(text, {
    delimiter,
    newline: '\n',
    step: ({ data: cells, errors: [error], meta }, parser) => {
      const number = rows.length + 1
      mistake = error?.type === 'Quotes' ? wrongQuote(error, number) : brokenLimit(number, cells)
      if (mistake) return parser.abort()
      rows.push({ number, cells })
      rowStart = meta.cursor
    },
  })
  if (mistake) throw new CsvError([mistake])
  return rows

  function wrongQuote({ code, index = rowStart }: Papa.ParseError, row: number): Mistake {
    // The cells before the quote are as many as the separators before it.
    const before = Papa.parse<string[]>(text.slice(rowStart, index - 1), { delimiter, newline: '\n' }).data[0]
    const column = (before?.length ?? 1) - 1
    const reason =
      code === 'MissingQuotes'
        ? 'A quotation mark opens the cell and none closes it. Add one at its end.'
        : 'Text follows the closing quotation mark. Write a quotation mark inside a cell twice: "".'
    return { row, column, reason }
  }
}

function brokenLimit(row: number, cells: readonly string[]): Mistake | undefined {
  if (row > maxRows + 1) return { row, reason: `A file has at most ${maxRows} rows. Split it.` }
  if (cells.length > maxColumns) {
    return { row, column: maxColumns, reason: `The row has ${cells.length} cells. A row has at most ${maxColumns}.` }
  }
  const column = cells.findIndex((cell) => cell.length > maxCellCharacters)
  if (column === -1) return undefined
  return {
    row,
    column,
    reason: `The cell has ${cells[column]?.length} characters. A cell has at most ${maxCellCharacters}; look for a missing quotation mark.`,
  }
}

/** Short rows are filled up. Spreadsheets write empty cells behind the last column. */
const withHeaderWidth = (rows: readonly CsvRow[], width: number): CsvRow[] =>
  rows.map(({ number, cells }) => {
    const extraColumn = cells.findIndex((cell, index) => index >= width && cell.trim() !== '')
    return {
      number,
      cells: Array.from({ length: width }, (_, column) => cells[column] ?? ''),
      ...(extraColumn !== -1 && { extraColumn }),
    }
  })

const damagedCells = (rows: readonly CsvRow[]): Mistake[] =>
  rows.flatMap(({ number: row, cells }) =>
    cells.flatMap((cell, column) =>
      cell.includes('\ufffd')
        ? [{ row, column, reason: 'The text is not UTF-8. In Excel, save the file as “CSV UTF-8”.' }]
        : [],
    ),
  )
