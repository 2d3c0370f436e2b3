// Sends the answers of rules over HTTP, with their ETag. [contract 1.2] [contract 7.8]
import type { OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { idempotencyReplayedHeader } from '../../contract/idempotency.ts'
import type { Operation } from '../../contract/operation.ts'
import {
  type AnswerBody,
  byteLengthOf,
  ReadyAnswer,
  ReplayedAnswer,
  StreamedAnswer,
  VersionedAnswer,
} from '../context/answers.ts'
import { readyAnswerOf } from '../context/if-match.ts'
import { endWithPieces, endWithText, textWindowBytes } from './limits/windows.ts'

export function sendAnswer(request: FastifyRequest, reply: FastifyReply, operation: Operation, answer: unknown): void {
  if (operation.csv) reply.header('vary', reply.hasHeader('vary') ? `${reply.getHeader('vary')}, Accept` : 'Accept')
  if (answer instanceof ReadyAnswer) sendReady(request, reply, answer)
  else if (answer instanceof VersionedAnswer) sendReady(request, reply, readyAnswerOf(answer))
  else if (answer instanceof StreamedAnswer) sendStream(request, reply, answer)
  else if (answer instanceof ReplayedAnswer) sendReplayed(reply, answer)
  else {
    const text = JSON.stringify(answer)
    if (operation.method !== 'GET') sendJson(reply, text)
    else sendReady(request, reply, ReadyAnswer.of(text))
  }
}

/**
 * Names of headers that most answers have are written in lower case: Fastify would convert others for every answer (bench row `reads`,
 * endpointsGet).
 */
function sendReady(request: FastifyRequest, reply: FastifyReply, { etag, body, lengthBytes }: ReadyAnswer): void {
  reply.header('etag', etag)
  const ifNoneMatch = request.headers['if-none-match']
  if (ifNoneMatch !== undefined && isRead(request) && matchesEtag(ifNoneMatch, etag)) sendNotModified(reply)
  else sendJson(reply, body, lengthBytes)
}

function sendReplayed(reply: FastifyReply, { body, etag }: ReplayedAnswer): void {
  reply.header(idempotencyReplayedHeader, 'true')
  if (etag !== undefined) reply.header('etag', etag)
  sendJson(reply, body)
}

const isRead = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD'

function sendStream(request: FastifyRequest, reply: FastifyReply, answer: StreamedAnswer): void {
  reply.header('X-Content-Type-Options', 'nosniff').type(answer.type)
  if (answer.filename !== undefined) {
    reply.header('Content-Disposition', `attachment; filename="${answer.filename}"`)
  }
  if (answer.etag !== undefined) reply.header('ETag', answer.etag)
  const isNotModified = answer.etag !== undefined && matchesEtag(request.headers['if-none-match'], answer.etag)
  if (answer.length !== undefined && !isNotModified) reply.header('Content-Length', answer.length)
  if (request.method !== 'HEAD' && !isNotModified) {
    void reply.send(answer.content)
    return
  }
  // Fastify would read the whole stream and discard it.
  answer.content.destroy()
  if (isNotModified) sendNotModified(reply)
  else void reply.send(Readable.from([]))
}

/** Shorter answers are not compressed. */
export const compressionThresholdBytes = 1024

/** A list of buffers up to this length is joined to be compressed: short answers are compressed in one step, and keep a length. */
const joinedBytes = 64 * 1024

const passThrough = (body: unknown) => body as string

/**
 * Writes finished JSON to Node's response directly, unless it may be compressed. Fastify would look for serialisers and hooks, and add a
 * charset, which application/json does not define.
 */
export function sendJson(reply: FastifyReply, body: AnswerBody, lengthBytes = byteLengthOf(body)): FastifyReply {
  const { headers, method } = reply.request
  const mayBeCompressed = lengthBytes >= compressionThresholdBytes && headers['accept-encoding'] !== undefined
  if (mayBeCompressed && method !== 'HEAD') {
    reply.header('content-type', 'application/json').serializer(passThrough)
    if (typeof body === 'string') return reply.send(body)
    if (lengthBytes <= joinedBytes) return reply.send(Buffer.concat(body))
    // The pieces are shared with other answers, so they are compressed where they are. Compression removes the length.
    reply.server.unsentAnswers.hold(reply.raw, lengthBytes, body)
    return reply.header('content-length', lengthBytes).send(Readable.from(body))
  }
  const answerHeaders = reply.getHeaders() as OutgoingHttpHeaders
  answerHeaders['content-type'] = 'application/json'
  // A HEAD request compresses nothing, so the length of the compressed body is unknown.
  if (!mayBeCompressed) answerHeaders['content-length'] = lengthBytes
  return endWith(reply, answerHeaders, body, lengthBytes)
}

const sendNotModified = (reply: FastifyReply): FastifyReply =>
  endWith(reply.code(304), reply.getHeaders() as OutgoingHttpHeaders, '', 0)

function endWith(
  reply: FastifyReply,
  headers: OutgoingHttpHeaders,
  body: AnswerBody,
  lengthBytes: number,
): FastifyReply {
  reply.hijack()
  const { raw } = reply
  const { unsentAnswers } = reply.server
  raw.writeHead(reply.statusCode, headers)
  if (typeof body === 'string') {
    // ASCII text has the same bytes in latin1 and UTF-8, and latin1 is sent in one piece with the headers. The bench row `reads`,
    // endpointsGet, measures this and the hijack above (decision 28).
    const encoding = lengthBytes === body.length ? 'latin1' : 'utf8'
    if (lengthBytes <= textWindowBytes) raw.end(body, encoding)
    else endWithText(raw, body, encoding, unsentAnswers.windowBytes)
  } else endWithPieces(raw, body, unsentAnswers.windowBytes)
  if (raw.writableLength > 0) unsentAnswers.hold(raw, lengthBytes, typeof body === 'string' ? raw : body)
  return reply
}

/** Compares as RFC 9110 demands for If-None-Match: weak and strong ETags with the same text match. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  // Almost all clients send a single ETag, as they received it.
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '')
  return ifNoneMatch.split(',').some((tag) => opaque(tag) === opaque(etag))
}
