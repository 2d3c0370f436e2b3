// Parses request bodies: JSON and nothing else, within limits. [contract 7.1]
import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { Failure } from '../../core/failure.ts'
import { exceededLimit } from '../../core/json-limits.ts'
import { rememberText } from '../../core/number-text.ts'
import { hashBodyOfKey } from './idempotency-key.ts'

export function registerBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const { 'content-encoding': encoding = 'identity' } = request.headers
      if (encoding !== 'identity')
        throw unsupported(`The body must not be compressed, but Content-Encoding is ${encoding}. Send it without.`)
      hashBodyOfKey(request, body as Buffer)
      done(null, parseJson(body as Buffer, request.operation?.keepsNumberText === true))
    } catch (error) {
      done(error as Error)
    }
  })
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined)
    else
      done(
        unsupported(
          `The body must be application/json, but Content-Type is ${request.headers['content-type'] || 'missing'}.`,
        ),
      )
  })
}

const unsupported = (sentence: string) => new Failure('UNSUPPORTED_MEDIA_TYPE', sentence)

function parseJson(bytes: Buffer, keepsNumberText: boolean): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw malformed('is not valid JSON: it is not UTF-8 text')
  const exceeded = exceededLimit(bytes)
  if (exceeded) throw malformed(exceeded)
  const text = bytes.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw malformed(`is not valid JSON: ${(error as Error).message}`)
  }
  if (keepsNumberText) rememberText(value, text)
  return value
}

const malformed = (error: string) =>
  new Failure('INVALID_ARGUMENT', `the body ${error}.`, {
    violations: [{ field: 'body', error }],
  })
