// Reads Server-Sent Events out of the pieces in which they arrive, as the HTML standard says.

/** One block of the stream. Without data it is no event, but its id counts. */
export interface Block {
  readonly id: string | undefined
  readonly data: string | undefined
}

/** A line ends with CRLF, LF or CR; a CR at the end of a piece may be half of a CRLF. */
const lineEnd = /\r\n|\n|\r(?!$)/g

export class BlockReader {
  readonly #decoder = new TextDecoder()
  #rest = ''
  #id: string | undefined
  #data: string[] = []

  /** The blocks that this piece completes. */
  read(piece: Uint8Array): Block[] {
    const blocks: Block[] = []
    const text = this.#rest + this.#decoder.decode(piece, { stream: true })
    let start = 0
    for (const { index, 0: end } of text.matchAll(lineEnd)) {
      const line = text.slice(start, index)
      start = index + end.length
      if (line === '') {
        if (this.#id !== undefined || this.#data.length > 0) blocks.push(this.#take())
      } else this.#field(line)
    }
    this.#rest = text.slice(start)
    return blocks
  }

  #take(): Block {
    const block = { id: this.#id, data: this.#data.length > 0 ? this.#data.join('\n') : undefined }
    this.#id = undefined
    this.#data = []
    return block
  }

  /** The type is in the data too, and when to come back is the caller's decision. */
  #field(line: string): void {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') this.#data.push(value)
    else if (name === 'id' && !value.includes('\0')) this.#id = value
  }
}
