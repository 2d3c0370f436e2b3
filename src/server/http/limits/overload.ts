// Refuses requests that waited for too long, as cheaply as possible, because most of their clients have given up. [contract 7.23]
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Failure } from '../../core/failure.ts'
import type { Log } from '../../core/log.ts'
import { sendJson } from '../answer.ts'
import { errorText } from '../errors.ts'

const overloaded = new Failure(
  'UNAVAILABLE',
  'The server has more requests than it can answer. Send the request again in a moment, or send fewer.',
)
/** One line is logged in this time, because a line for each refusal would cost more than the refusal. */
const logEveryMs = 10_000

export class Overload {
  readonly #log: Log
  #loggedAt = Number.NEGATIVE_INFINITY
  refused = 0

  constructor(log: Log) {
    this.#log = log
  }

  refuse(request: FastifyRequest, reply: FastifyReply): void {
    this.refused++
    const now = performance.now()
    if (now - this.#loggedAt >= logEveryMs) {
      this.#loggedAt = now
      this.#log.warn({ refused: this.refused }, 'overloaded: requests that waited for more than 500 ms are refused')
    }
    reply.header('Retry-After', '1')
    sendJson(reply.code(503), errorText(overloaded, request.id))
  }
}
