// Writes lines of CSV (RFC 4180) that are safe to open in a spreadsheet.

export const csvRow = (cells: readonly string[]): string => `${cells.map(cellText).join(',')}\r\n`

const number = /^-?\d+(\.\d+)?$/
const formulaStart = /^[=+\-@\t\r]/

/** A spreadsheet would run a text such as `=HYPERLINK(…)` as a formula: an apostrophe in front of it makes it a text. */
function cellText(text: string): string {
  const safe = formulaStart.test(text) && !number.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
