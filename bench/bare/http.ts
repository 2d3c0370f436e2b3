// The baseline of an answer: node:http that sends prepared bytes. Arguments: status, and a file with one answer (headers, body) per line.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const [status = '200', file = ''] = process.argv.slice(2)

/** Node adds these headers by itself. */
const addedByNode = /^(date|connection|keep-alive)$/i

/** Node sends a short ASCII string together with its headers in one write, which is its cheapest way. */
const isShortAscii = (text: string) => text.length < 65_536 && text.length === Buffer.byteLength(text)

const answers = readFileSync(file, 'utf8')
  .split('\n')
  .map((line) => {
    const [headers, text]: [string[], string] = JSON.parse(line)
    const sentHeaders = headers.filter((_, i) => !addedByNode.test(headers[i - (i % 2)] ?? ''))
    return { headers: sentHeaders, body: isShortAscii(text) ? text : Buffer.from(text) }
  })

let next = 0
// Connections are idle while other contenders have their turn; they stay open as long as those of our server.
const server = createServer({ keepAliveTimeout: 72_000 }, (_request, response) => {
  const answer = answers[next++ % answers.length]
  response.writeHead(Number(status), answer?.headers).end(answer?.body, 'latin1')
})
server.listen({ host: '127.0.0.1', port: 0 }, () => {
  process.stdout.write(`listening on ${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
