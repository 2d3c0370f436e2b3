// An HTTP server for tests that reads the body of each request before it answers.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

/**
 * A sender that was stopped or killed leaves half of a request, which is not answered. Without a handler that would be a rejection that
 * fails the whole run of the tests.
 */
export const createBodyServer = (
  answer: (request: IncomingMessage, body: string, response: ServerResponse) => unknown,
): Server =>
  createServer(async (request, response) => {
    const body = await text(request).catch((error) => {
      if (!request.destroyed) throw error
    })
    if (body !== undefined) await answer(request, body, response)
  })
