// Reads CSV as RFC 4180 writes it.

/** The cells of each line; every line ends with CRLF. */
export function csvLines(text: string): string[][] {
  const lines: string[][] = []
  let cells: string[] = []
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    lines.push(cells)
    cells = []
  }
  if (cells.length > 0) throw new Error('the last line does not end')
  return lines
}
