// What a handler gives back, and how it becomes an HTTP answer with its ETag. [contract 1.2] [contract 7.8]
import { createHash, hash } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '../../contract/operation.ts'
import { etagOf } from '../context/if-match.ts'
import { endWithPieces, endWithText } from './windows.ts'

/** One writable resource with its version. */
export class VersionedAnswer<T> {
  readonly version: number
  readonly body: T

  constructor(version: number, body: T) {
    this.version = version
    this.body = body
  }
}

/** What is short is text: that goes out in one piece with its headers. What is long is pieces, put together only to be compressed. */
type Body = string | readonly Buffer[]

/** JSON that is ready to be sent, as often as somebody asks. */
export class ReadyAnswer {
  readonly etag: string
  readonly body: Body
  /** In bytes. */
  readonly length: number

  constructor(etag: string, body: Body) {
    this.etag = etag
    this.body = body
    this.length = lengthOf(body)
  }

  /** Of what has no version. */
  static of(text: string): ReadyAnswer {
    return new ReadyAnswer(`W/"${hash('sha1', text, 'base64url')}"`, text)
  }
}

const lengthOf = (body: Body): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.reduce((sum, piece) => sum + piece.length, 0)

/** An answer that is not JSON and too long to hold in memory. */
export class StreamedAnswer {
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

/** Puts an answer together that is too long to be made in one go. */
export class TextChunks {
  readonly #pieces: Buffer[] = []
  readonly #hash = createHash('sha1')

  add(text: string): void {
    const piece = Buffer.from(text)
    this.#pieces.push(piece)
    this.#hash.update(piece)
  }

  /** Its ETag is that of the whole text. */
  end(): ReadyAnswer {
    return new ReadyAnswer(`W/"${this.#hash.digest('base64url')}"`, this.#pieces)
  }
}

export function sendAnswer(request: FastifyRequest, reply: FastifyReply, operation: Operation, answer: unknown): void {
  if (operation.csv) reply.header('Vary', 'Accept')
  if (answer instanceof ReadyAnswer) sendReady(request, reply, answer)
  else if (answer instanceof VersionedAnswer) {
    sendReady(request, reply, new ReadyAnswer(etagOf(answer.version), JSON.stringify(answer.body)))
  } else if (answer instanceof StreamedAnswer) sendStream(request, reply, answer)
  else {
    const text = JSON.stringify(answer)
    if (operation.method !== 'GET') sendJson(reply, text)
    else sendReady(request, reply, ReadyAnswer.of(text))
  }
}

function sendReady(request: FastifyRequest, reply: FastifyReply, { etag, body, length }: ReadyAnswer): void {
  reply.header('ETag', etag)
  const wanted = request.headers['if-none-match']
  if (wanted !== undefined && isRead(request) && matchesEtag(wanted, etag)) sendNothingNew(reply)
  else sendJson(reply, body, length)
}

const isRead = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD'

function sendStream(request: FastifyRequest, reply: FastifyReply, answer: StreamedAnswer): void {
  reply
    .header('Content-Disposition', `attachment; filename="${answer.filename}"`)
    .header('X-Content-Type-Options', 'nosniff')
    .type(answer.type)
  if (answer.etag !== undefined) reply.header('ETag', answer.etag)
  const isKnown = answer.etag !== undefined && matchesEtag(request.headers['if-none-match'], answer.etag)
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

/** Shorter answers are not compressed. */
export const compressionThresholdBytes = 1024

const asItIs = (text: unknown) => text as string

/**
 * Nothing is left to do to JSON that is there unless somebody wants it compressed: otherwise it does not go the way of Fastify, which
 * looks for serialisers and hooks, and would add a charset that JSON does not have.
 */
export function sendJson(reply: FastifyReply, body: Body, length = lengthOf(body)): FastifyReply {
  reply.header('Content-Type', 'application/json')
  const { headers, method } = reply.request
  const mayBeCompressed = length >= compressionThresholdBytes && headers['accept-encoding'] !== undefined
  if (mayBeCompressed && method !== 'HEAD') {
    return reply.serializer(asItIs).send(typeof body === 'string' ? body : Buffer.concat(body))
  }
  // Whoever asks by HEAD has nothing compressed, so nobody knows how long that would be.
  if (!mayBeCompressed) reply.header('Content-Length', length)
  return endWith(reply, body, length)
}

const sendNothingNew = (reply: FastifyReply): FastifyReply => endWith(reply.code(304), '', 0)

function endWith(reply: FastifyReply, body: Body, length: number): FastifyReply {
  reply.hijack()
  const { raw } = reply
  const { unsentAnswers } = reply.server
  raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  if (typeof body === 'string') {
    // Plain ASCII is the same bytes in both, and one of them needs no encoding.
    const encoding = length === body.length ? 'latin1' : 'utf8'
    if (length <= unsentAnswers.windowBytes) raw.end(body, encoding)
    else endWithText(raw, body, encoding, unsentAnswers.windowBytes)
  } else endWithPieces(raw, body, unsentAnswers.windowBytes)
  if (raw.writableLength > 0) unsentAnswers.hold(raw, length, typeof body === 'string' ? raw : body)
  return reply
}

/** The weak comparison of RFC 9110: what a conditional read asks for. */
export function matchesEtag(wanted: string | undefined, etag: string): boolean {
  if (wanted === undefined) return false
  // What almost everybody sends.
  if (wanted === etag || wanted.trim() === '*') return true
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '')
  return wanted.split(',').some((tag) => opaque(tag) === opaque(etag))
}
