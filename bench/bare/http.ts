// The limit beside an answer: node:http that sends bytes it has ready. Arguments: status, and a file with headers and body of an answer in each line.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const [status = '200', file = ''] = process.argv.slice(2)

/** Node adds these by itself. */
const added = /^(date|connection|keep-alive)$/i

/** The cheapest way that Node has: a short plain text goes out in one piece with its headers. */
const isPlain = (text: string) => text.length < 65_536 && text.length === Buffer.byteLength(text)

const answers = readFileSync(file, 'utf8')
  .split('\n')
  .map((line) => {
    const [headers, text]: [string[], string] = JSON.parse(line)
    const kept = headers.filter((_, i) => !added.test(headers[i - (i % 2)] ?? ''))
    return { headers: kept, body: isPlain(text) ? text : Buffer.from(text) }
  })

let next = 0
// A side waits while others have their turn; connections stay as long as ours do.
const server = createServer({ keepAliveTimeout: 72_000 }, (_request, response) => {
  const answer = answers[next++ % answers.length]
  response.writeHead(Number(status), answer?.headers).end(answer?.body, 'latin1')
})
server.listen({ host: '127.0.0.1', port: 0 }, () => {
  process.stdout.write(`listening on ${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
