// Passes on the pieces of an upload while it checks them: the size limit, and that they are one complete gzip stream.
import type { Readable } from 'node:stream'
import { maxBundleBytes } from '../../../../contract/device/protocol.ts'
import { Failure } from '../../../core/failure.ts'
import { gzipCheck } from './gzip.ts'

/** Throws a failure if the bundle is refused. The check of a piece runs while the consumer stores it. */
export class CheckedPieces {
  readonly #stream: Readable
  /** The bytes so far; the size of the bundle after the last piece. */
  size = 0

  constructor(stream: Readable) {
    this.#stream = stream
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    const check = gzipCheck()
    try {
      // Leaving the loop must not destroy the stream, because the refusal is sent over the same connection.
      for await (const bytes of this.#stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        this.size += bytes.length
        if (this.size > maxBundleBytes) throw bundleTooLarge()
        const checked = check.write(bytes)
        checked.catch(() => {})
        yield bytes
        await checked
      }
      await check.end()
    } finally {
      check.close()
    }
  }
}

export const bundleTooLarge = () =>
  new Failure('PAYLOAD_TOO_LARGE', 'The bundle is larger than 64 MiB. Leave out the oldest logs.')
