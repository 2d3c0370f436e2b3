// Checks that what arrives is one whole gzip stream, while it passes by.
import { createGunzip } from 'node:zlib'
import { Failure } from '../../core/failure.ts'

/** Of a bundle that is unpacked; logs shrink to a tenth, a bomb to a thousandth. */
const mostUnpacked = 2 * 1024 * 1024 * 1024

export interface GzipCheck {
  /** Resolves when the bytes were looked at, so that no more than these wait in memory. */
  take(bytes: Buffer): Promise<void>
  /** There are no more. */
  end(): Promise<void>
  close(): void
}

/** Unpacks to nowhere, beside the event loop: a bundle that turns out broken in weeks is of no use to anybody. */
export function gzipCheck(): GzipCheck {
  const gunzip = createGunzip()
  let unpacked = 0
  let problem: Failure | undefined
  let tell: (problem: Failure) => void = () => {}
  gunzip.on('data', (piece: Buffer) => {
    unpacked += piece.length
    if (unpacked > mostUnpacked) gunzip.destroy(bomb())
  })
  // A write that fails is never called back: whoever waits is told from here.
  gunzip.on('error', (error) => {
    problem = error instanceof Failure ? error : broken(error.message)
    tell(problem)
  })
  const settled = (start: (done: () => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      if (problem) return reject(problem)
      tell = reject
      start(resolve)
    })
  return {
    take: (bytes) => settled((done) => gunzip.write(bytes, () => done())),
    end: () => settled((done) => (gunzip.readableEnded ? done() : gunzip.once('end', done).end())),
    close: () => void gunzip.destroy(),
  }
}

const broken = (why: string) =>
  new Failure('INVALID_ARGUMENT', `the bundle is not a complete gzip stream (${why}). Pack it again and send it again.`)

const bomb = () =>
  new Failure('INVALID_ARGUMENT', 'the bundle holds more than 2 GiB when it is unpacked. Leave out the oldest logs.')
