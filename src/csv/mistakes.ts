// Mistakes in a CSV file, with their rows and columns.

export interface Mistake {
  /** The row as a spreadsheet numbers it: the header is row 1. Absent if the mistake is about the whole file. */
  readonly row?: number
  /** The column, counted from 0. Absent if the mistake is about the whole row. */
  readonly column?: number
  /** The header of the column. */
  readonly header?: string
  /** A sentence that says what is wrong and what to do. */
  readonly reason: string
  /** Whether the cell is a formula. The file is not written back then: the formula would return as a text. */
  readonly isFormula?: true
}

/** A file with more mistakes is broken as a whole, such as one with the wrong columns. */
const maxShownMistakes = 100

/** The file cannot be read, or its rows cannot be understood. Nothing was changed. */
export class CsvError extends Error {
  readonly mistakes: readonly Mistake[]

  constructor(mistakes: readonly Mistake[]) {
    super(mistakesText(mistakes))
    this.name = 'CsvError'
    this.mistakes = mistakes
  }
}

/** A file with a formula is refused as a whole, with all of its mistakes. */
export function refuseFormulas(mistakes: readonly Mistake[]): void {
  if (mistakes.some(({ isFormula }) => isFormula)) throw new CsvError(mistakes)
}

/** A line for each mistake. */
export function mistakesText(mistakes: readonly Mistake[]): string {
  const lines = mistakes.slice(0, maxShownMistakes).map(mistakeText)
  const left = mistakes.length - lines.length
  return [...lines, ...(left > 0 ? [`… and ${left} more.`] : [])].join('\n')
}

/** Such as `Row 3, column C (capacity): "many" is not a whole number.` */
export function mistakeText({ row, column, header, reason }: Mistake): string {
  const place = [
    ...(row === undefined ? [] : [`row ${row}`]),
    ...(column === undefined ? [] : [`column ${columnLetters(column)}${header ? ` (${header})` : ''}`]),
  ].join(', ')
  return place === '' ? reason : `${place.charAt(0).toUpperCase()}${place.slice(1)}: ${reason}`
}

/** A, B, … Z, AA, AB, … as in spreadsheets. */
export function columnLetters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26))
  return column < 26 ? last : columnLetters(Math.floor(column / 26) - 1) + last
}
