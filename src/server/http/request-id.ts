// Chooses the id of a request: the one that its caller sent, if it can stand in a header and a log. [contract 1.9]
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

const acceptedRequestId = /^[A-Za-z0-9._-]{1,64}$/

export function requestIdOf({ 'x-request-id': given }: IncomingHttpHeaders): string {
  return typeof given === 'string' && acceptedRequestId.test(given) ? given : randomUUID()
}
