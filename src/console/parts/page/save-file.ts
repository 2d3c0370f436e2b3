// Lets the browser save a file that the console created or downloaded.
import { byteOrderMark } from '../../../contract/csv.ts'

export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser needs a moment to start reading the file.
  setTimeout(() => URL.revokeObjectURL(address), 1000)
}

/** People open these files in Excel, which needs the mark. */
export const saveCsv = (text: string, name: string): void =>
  saveFile(new Blob([byteOrderMark, text], { type: 'text/csv' }), name)
