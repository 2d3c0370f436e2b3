// Tables and pairs of a name and a value, as text for a terminal.

/** The spaces between two columns. */
export const columnGap = 2

/** The last column is not padded. */
export function textTable(rows: readonly (readonly string[])[]): string[] {
  const widths = columnWidths(rows)
  return rows.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0))
      .join(' '.repeat(columnGap))
      .trimEnd(),
  )
}

export function columnWidths(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell))
  }
  return widths
}

/** In code points. Wide characters, such as those of Japanese, take two columns, and move what is to the right of them. */
const widthOf = (text: string): number => [...text].length
const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))
