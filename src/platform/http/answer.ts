// What a handler gives back, and how it becomes an HTTP answer with its ETag. [contract 1.2] [contract 7.8]
import { createHash, hash } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
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

/** JSON that is ready to be sent, as often as somebody asks. */
export class Ready {
  readonly etag: string
  /** What is short is kept as text: that goes out in one piece with its headers. */
  readonly body: string | Buffer
  /** In bytes. */
  readonly length: number

  constructor(etag: string, body: string | Buffer) {
    this.etag = etag
    this.body = body
    this.length = Buffer.byteLength(body)
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

export function send(request: FastifyRequest, reply: FastifyReply, operation: Operation, answer: unknown): void {
  if (operation.csv) reply.header('Vary', 'Accept')
  if (answer instanceof Ready) sendReady(request, reply, answer)
  else if (answer instanceof Versioned) {
    sendReady(request, reply, new Ready(etagOf(answer.version), JSON.stringify(answer.body)))
  } else if (answer instanceof Streamed) sendStream(request, reply, answer)
  else if (answer instanceof Serialised) sendSerialised(request, reply, answer)
  else {
    const text = JSON.stringify(answer)
    if (operation.method !== 'GET') sendJson(reply, text)
    else sendReady(request, reply, new Ready(`W/"${hash('sha1', text, 'base64url')}"`, text))
  }
}

function sendReady(request: FastifyRequest, reply: FastifyReply, { etag, body, length }: Ready): void {
  reply.header('ETag', etag)
  const wanted = request.headers['if-none-match']
  if (wanted !== undefined && isRead(request) && matches(wanted, etag)) sendNothingNew(reply)
  else sendJson(reply, body, length)
}

const isRead = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD'

function sendStream(request: FastifyRequest, reply: FastifyReply, answer: Streamed): void {
  reply
    .header('Content-Disposition', `attachment; filename="${answer.filename}"`)
    .header('X-Content-Type-Options', 'nosniff')
    .type(answer.type)
  if (answer.etag !== undefined) reply.header('ETag', answer.etag)
  const isKnown = answer.etag !== undefined && matches(request.headers['if-none-match'], answer.etag)
  if (answer.length !== undefined && !isKnown) reply.header('Content-Length', answer.length)
  if (request.method !== 'HEAD' && !isKnown) {
    void reply.send(answer.content)
    return
  }
  // Fastify would read all of it to throw it away.
  answer.content.destroy()
  if (isKnown) sendNothingNew(reply)
  else void reply.send(Readable.from([]))
}

function sendSerialised(request: FastifyRequest, reply: FastifyReply, answer: Serialised): void {
  const { chunks, length, etag } = answer
  const [only, ...others] = chunks
  if (only && others.length === 0) sendReady(request, reply, new Ready(etag, only))
  else if (matches(request.headers['if-none-match'], etag)) sendNothingNew(reply.header('ETag', etag))
  else {
    reply.header('ETag', etag).header('Content-Type', 'application/json').header('Content-Length', length)
    void reply.send(Readable.from(request.method === 'HEAD' ? [] : chunks, { objectMode: false }))
  }
}

/** Shorter answers are not compressed. */
export const compressedFrom = 1024

const asItIs = (text: unknown) => text as string

/**
 * Nothing is left to do to a whole text unless somebody wants it compressed: then it does not go the way of Fastify, which looks for
 * serialisers and hooks, and would add a charset that JSON does not have.
 */
export function sendJson(reply: FastifyReply, body: string | Buffer, length = Buffer.byteLength(body)): FastifyReply {
  reply.header('Content-Type', 'application/json')
  if (length >= compressedFrom && reply.request.headers['accept-encoding'] !== undefined) {
    return reply.serializer(asItIs).send(body)
  }
  reply.header('Content-Length', length)
  // Plain ASCII is the same bytes in both, and one of them needs no encoding.
  return endWith(reply, body, length === body.length ? 'latin1' : 'utf8')
}

const sendNothingNew = (reply: FastifyReply): FastifyReply => endWith(reply.code(304), '', 'latin1')

function endWith(reply: FastifyReply, body: string | Buffer, encoding: 'latin1' | 'utf8'): FastifyReply {
  reply.hijack()
  const { raw } = reply
  raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  if (typeof body === 'string') raw.end(body, encoding)
  else raw.end(body)
  return reply
}

/** The weak comparison of RFC 9110: what a conditional read asks for. */
export function matches(wanted: string | undefined, etag: string): boolean {
  if (wanted === undefined) return false
  // What almost everybody sends.
  if (wanted === etag || wanted.trim() === '*') return true
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '')
  return wanted.split(',').some((tag) => opaque(tag) === opaque(etag))
}
