// Checks, piece by piece, that an upload is one complete gzip stream.
import { createGunzip } from 'node:zlib'
import { Failure } from '../../../core/failure.ts'

/** A bundle is at most 64 MiB, and logs compress to about a tenth. A zip bomb compresses to a thousandth and exceeds this. */
const maxUnpackedBytes = 2 * 1024 * 1024 * 1024

export interface GzipCheck {
  /** Resolves when the bytes were checked, so that the caller holds no more than these in memory. */
  write(bytes: Buffer): Promise<void>
  /** Rejects unless the stream is complete. */
  end(): Promise<void>
  close(): void
}

/** Unpacks the bundle in zlib's thread pool and discards the result, so that a broken bundle is refused at upload. */
export function gzipCheck(): GzipCheck {
  const gunzip = createGunzip()
  let unpackedBytes = 0
  let failure: Failure | undefined
  let rejectPending: (failure: Failure) => void = () => {}
  gunzip.on('data', (piece: Buffer) => {
    unpackedBytes += piece.length
    if (unpackedBytes > maxUnpackedBytes) gunzip.destroy(unpacksTooLarge())
  })
  // zlib does not call the callback of a write that failed, so the pending promise is rejected here.
  gunzip.on('error', (error) => {
    failure = error instanceof Failure ? error : notGzip(error.message)
    rejectPending(failure)
  })
  const rejectOnError = (start: (done: () => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      if (failure) return reject(failure)
      rejectPending = reject
      start(resolve)
    })
  return {
    write: (bytes) => rejectOnError((done) => gunzip.write(bytes, () => done())),
    end: () => rejectOnError((done) => (gunzip.readableEnded ? done() : gunzip.once('end', done).end())),
    close: () => void gunzip.destroy(),
  }
}

const notGzip = (why: string) =>
  new Failure('INVALID_ARGUMENT', `the bundle is not a complete gzip stream (${why}). Pack it again and send it again.`)

const unpacksTooLarge = () =>
  new Failure('INVALID_ARGUMENT', 'the bundle holds more than 2 GiB when it is unpacked. Leave out the oldest logs.')
