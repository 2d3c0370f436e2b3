// What a handler gives back, and how it becomes an HTTP answer with its ETag. [contract 1.2] [contract 7.8]
import { createHash, hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '../../contract/operation.ts'
import { etagOf } from '../version.ts'

/** One writable resource with its version. */
export class Versioned<T> {
  readonly version: number
  readonly body: T

  constructor(version: number, body: T) {
    this.version = version
    this.body = body
  }
}

/** An answer that is not JSON and too long to hold in memory. */
export class Streamed {
  readonly type: string
  readonly filename: string
  readonly content: Readable
  /** In bytes, where it is known beforehand. */
  readonly length: number | undefined
  /** Where it never changes. */
  readonly etag: string | undefined

  constructor(
    type: string,
    filename: string,
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

/** JSON that the rule wrote as text itself, piece by piece: too long to be made or sent in one go. */
export class Serialised {
  /** Some tens of kilobytes each: every one is a write of its own. */
  readonly chunks: Buffer[] = []
  length = 0
  readonly #hash = createHash('sha1')

  constructor(text?: string) {
    if (text !== undefined) this.add(text)
  }

  add(text: string): void {
    const chunk = Buffer.from(text)
    this.chunks.push(chunk)
    this.length += chunk.length
    this.#hash.update(chunk)
  }

  /** The same as that of the whole text. */
  get etag(): string {
    return `W/"${this.#hash.copy().digest('base64url')}"`
  }
}

export function send(
  request: FastifyRequest,
  reply: FastifyReply,
  operation: Operation,
  answer: unknown,
): FastifyReply {
  if (operation.csv) reply.header('Vary', 'Accept')
  if (answer instanceof Streamed) return sendStream(request, reply, answer)
  if (answer instanceof Serialised) return sendSerialised(request, reply, answer)
  const text = JSON.stringify(answer instanceof Versioned ? answer.body : answer)
  if (answer instanceof Versioned) reply.header('ETag', etagOf(answer.version))
  else if (operation.method === 'GET') reply.header('ETag', `W/"${hash('sha1', text, 'base64url')}"`)
  if (operation.method === 'GET' && matches(request.headers['if-none-match'], reply.getHeader('ETag') as string)) {
    return reply.code(304).send()
  }
  return sendJson(reply, text)
}

function sendStream(request: FastifyRequest, reply: FastifyReply, answer: Streamed): FastifyReply {
  reply
    .header('Content-Disposition', `attachment; filename="${answer.filename}"`)
    .header('X-Content-Type-Options', 'nosniff')
    .type(answer.type)
  if (answer.etag !== undefined) reply.header('ETag', answer.etag)
  const isKnown = answer.etag !== undefined && matches(request.headers['if-none-match'], answer.etag)
  if (answer.length !== undefined && !isKnown) reply.header('Content-Length', answer.length)
  if (request.method !== 'HEAD' && !isKnown) return reply.send(answer.content)
  // Fastify would read all of it to throw it away.
  answer.content.destroy()
  return isKnown ? reply.code(304).send() : reply.send(Readable.from([]))
}

function sendSerialised(request: FastifyRequest, reply: FastifyReply, answer: Serialised): FastifyReply {
  const { chunks, length, etag } = answer
  reply.header('ETag', etag)
  if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
  reply.header('Content-Type', 'application/json').header('Content-Length', length)
  if (chunks.length === 1) return reply.send(chunks[0])
  return reply.send(Readable.from(request.method === 'HEAD' ? [] : chunks, { objectMode: false }))
}

const asItIs = (text: unknown) => text as string

/** Fastify would add a charset, which JSON does not have. */
export const sendJson = (reply: FastifyReply, text: string): FastifyReply =>
  reply.header('Content-Type', 'application/json').serializer(asItIs).send(text)

/** The weak comparison of RFC 9110: what a conditional read asks for. */
export function matches(wanted: string | undefined, etag: string): boolean {
  if (wanted === undefined) return false
  if (wanted.trim() === '*') return true
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '')
  return wanted.split(',').some((tag) => opaque(tag) === opaque(etag))
}
