// Defines the answers that a rule may return besides a plain value. http/answer.ts sends them. [contract 1.2] [contract 7.8]
import { createHash, hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { EventFilter } from '../events/filter.ts'

/** One writable resource with its version. */
export class VersionedAnswer<T> {
  readonly version: number
  readonly body: T
  /** A hash of those parts of the body that change without a new version. */
  readonly unversionedHash: string | undefined

  constructor(version: number, body: T, unversionedHash?: string) {
    this.version = version
    this.body = body
    this.unversionedHash = unversionedHash
  }
}

/**
 * A short body is a string, which is sent in one write with its headers. A long body is a list of buffers. In that of a list, the first and
 * the last one open and close it, and each of the others has whole items, with a comma in front of all but the first.
 */
export type AnswerBody = string | readonly Buffer[]

/** A body of JSON that is ready to be sent any number of times. */
export class ReadyAnswer {
  readonly etag: string
  readonly body: AnswerBody
  readonly lengthBytes: number

  constructor(etag: string, body: AnswerBody) {
    this.etag = etag
    this.body = body
    this.lengthBytes = byteLengthOf(body)
  }

  /** For a resource without a version: the ETag is a hash of the text. */
  static of(text: string): ReadyAnswer {
    return new ReadyAnswer(`W/"${hash('sha1', text, 'base64url')}"`, text)
  }
}

export const byteLengthOf = (body: AnswerBody): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.reduce((sum, piece) => sum + piece.length, 0)

/** The answer of an earlier request, which a repeat of it gets. [contract 7.once] */
export class ReplayedAnswer {
  readonly body: string
  readonly etag: string | undefined

  constructor(body: string, etag: string | undefined) {
    this.body = body
    this.etag = etag
  }
}

/** A list that is read in pages for CSV, because the whole list would take one long turn of the event loop. `read` begins anew at each call. */
export class PagedList {
  readonly read: () => AsyncGenerator<object>
  /** Reads only the `fields` of the items, if that is cheaper. */
  readonly readFields: PagedList | undefined

  constructor(read: () => AsyncGenerator<object>, readFields?: () => AsyncGenerator<object>) {
    this.read = read
    this.readFields = readFields && new PagedList(readFields)
  }
}

/** An answer that is not JSON and too long to hold in memory. */
export class StreamedAnswer {
  readonly type: string
  /** The name under which browsers save it; without a name they show it. */
  readonly filename: string | undefined
  readonly content: Readable
  /** The length in bytes, if it is known beforehand. */
  readonly length: number | undefined
  /** Set only for content that never changes. */
  readonly etag: string | undefined

  constructor(
    type: string,
    filename: string | undefined,
    content: AsyncIterable<string> | Readable,
    { length, etag }: { length?: number; etag?: string } = {},
  ) {
    this.type = type
    this.filename = filename
    this.content = content instanceof Readable ? content : Readable.from(content)
    this.length = length
    this.etag = etag
  }
}

/** Collects an answer that is too long to be made in one turn of the event loop. */
export class TextChunks {
  readonly #pieces: Buffer[] = []
  readonly #hash = createHash('sha1')

  add(text: string): void {
    const piece = Buffer.from(text)
    this.#pieces.push(piece)
    this.#hash.update(piece)
  }

  /** The ETag is a hash of the whole text. */
  end(): ReadyAnswer {
    return new ReadyAnswer(`W/"${this.#hash.digest('base64url')}"`, this.#pieces)
  }
}

/** The result of a rule whose operation is a stream: the server answers it with an event stream. */
export class EventSubscription {
  readonly filter: EventFilter
  readonly lastEventId: string | undefined

  constructor(filter: EventFilter, lastEventId: string | undefined) {
    this.filter = filter
    this.lastEventId = lastEventId
  }
}
