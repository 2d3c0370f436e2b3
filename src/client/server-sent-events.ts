// Parses Server-Sent Events from chunks of bytes, as the HTML standard specifies.

/** One block of the stream. A block without data is not an event, but its id is the new position. */
export interface Block {
  readonly id: string | undefined
  readonly data: string | undefined
}

/** A line ends with CRLF, LF or CR. A CR at the end of a chunk may be half of a CRLF. */
const lineEnd = /\r\n|\n|\r(?!$)/g

export class BlockReader {
  readonly #decoder = new TextDecoder()
  #rest = ''
  #id: string | undefined
  #data: string[] = []

  /** Returns the blocks that this chunk completes. */
  read(chunk: Uint8Array): Block[] {
    const blocks: Block[] = []
    const text = this.#rest + this.#decoder.decode(chunk, { stream: true })
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

  /** The fields event and retry are ignored: the data holds the type, and the caller decides when to reconnect. */
  #field(line: string): void {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') this.#data.push(value)
    else if (name === 'id' && !value.includes('\0')) this.#id = value
  }
}
