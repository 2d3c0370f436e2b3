// Requests that `fetch` would not send, and answers as they are on the wire.
import { type Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'

/** Writes the text to a socket and gives back everything that comes until the server closes it. */
export const rawRequest = (port: number, text: string) =>
  new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })

/** Nothing is decoded. */
export async function rawFetch(
  url: string,
  key: string,
  { method = 'GET', headers = {}, agent }: { method?: string; headers?: Record<string, string>; agent?: Agent } = {},
) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request(url, { method, agent, headers: { authorization: `Bearer ${key}`, ...headers } }, resolve)
    .on('error', reject)
    .end()
  const response = await promise
  const bytes = Buffer.concat(await response.toArray())
  return { status: response.statusCode, headers: response.headers, bytes }
}

/** Sends JSON that is made already, and reads the answer without looking at it: the sender has next to no work. */
export async function sendRawJson(
  agent: Agent,
  method: string,
  url: string,
  body: Buffer,
  own: Readonly<Record<string, string>>,
): Promise<number> {
  const headers = { 'content-type': 'application/json', 'content-length': body.length, ...own }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request(url, { method, agent, headers }, resolve).on('error', reject).end(body)
  const response = await promise
  await response.toArray()
  return response.statusCode ?? 0
}
