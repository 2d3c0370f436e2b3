// Turns the bytes of a CSV file into text: UTF-8 or UTF-16, as spreadsheets save them.

export interface DecodedText {
  /** The text has no byte order mark. */
  readonly text: string
  /** Excel reads UTF-8 as such only after a byte order mark, so a file that has one is answered with one. */
  readonly hasByteOrderMark: boolean
  /** Bytes that belong to no character were read as U+FFFD. */
  readonly isDamaged: boolean
}

export function decodeText(bytes: Uint8Array): DecodedText {
  const utf16 = utf16Of(bytes)
  const encoding = utf16 ?? 'utf-8'
  const hasByteOrderMark = utf16 !== undefined || (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes), hasByteOrderMark, isDamaged: false }
  } catch {
    return { text: new TextDecoder(encoding).decode(bytes), hasByteOrderMark, isDamaged: true }
  }
}

/** "Unicode text" of Excel is UTF-16 with a byte order mark. Without a mark, a zero as the first or second byte shows it. */
function utf16Of([first, second]: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (first === undefined || second === undefined) return undefined
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be'
  return undefined
}
