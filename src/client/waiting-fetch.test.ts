// A fetch that waits, against a real server that asks it to slow down.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createBodyServer } from '../../test/support/body-server.ts'
import { WaitEnded, type Waiting, waitingFetch } from './waiting-fetch.ts'

/** The answers of the server, one for each request; a request without one gets a 200. */
let answers: [status: number, retryAfter?: string][] = []
let bodies: string[] = []
const server = createBodyServer((_request, body, response) => {
  bodies.push(body)
  const [status, retryAfter] = answers.shift() ?? [200]
  response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end('answer')
})
let url: string
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  bodies = []
})
afterAll(() => void server.close())

test('a request is sent again, whole, when the server asks to wait: 429, 503 and 409', async () => {
  answers = [
    [429, '1'],
    [503, '0'],
    [409, '0'],
  ]
  const waits: Waiting[] = []
  const send = waitingFetch((waiting) => void waits.push(waiting))
  const startedAt = performance.now()
  const response = await send(url, { method: 'POST', body: '{"name":"Fjord"}' })
  expect(response.status).toBe(200)
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(2900)
  expect(bodies).toEqual(Array(4).fill('{"name":"Fjord"}'))
  expect(waits).toEqual([
    { seconds: 1, status: 429 },
    { seconds: 1, status: 503 },
    { seconds: 1, status: 409 },
  ])
})

test.each<[status: number, retryAfter?: string]>([
  [503],
  [500, '1'],
  [409],
  [429],
  [429, 'Wed, 21 Oct 2026 07:28:00 GMT'],
  [429, '121'],
])(
  'a %i with Retry-After %s is returned: the change may have been made, or the wait would be long [contract 2.5]',
  async (status, retryAfter) => {
    answers = [[status, retryAfter as string]]
    if (retryAfter === undefined) answers = [[status]]
    const send = waitingFetch(() => expect.unreachable('it waits'))
    expect((await send(url)).status).toBe(status)
    expect(bodies).toHaveLength(1)
  },
)

test('a caller can give up while it waits', async () => {
  answers = [[429, '60']]
  const controller = new AbortController()
  const send = waitingFetch(() => controller.abort(new Error('enough')))
  await expect(send(url, { signal: controller.signal })).rejects.toThrow('enough')
  expect(bodies).toHaveLength(1)
})

test('an interruption ends a wait, and not a request that is under way', async () => {
  answers = [[429, '60'], [200], [429, '60']]
  const stop = new AbortController()
  const send = waitingFetch(() => stop.abort(), fetch, stop.signal)
  await expect(send(url)).rejects.toThrow(WaitEnded)
  expect((await send(url)).status).toBe(200)
  await expect(send(url)).rejects.toThrow('Interrupted.')
  expect(bodies).toHaveLength(3)
})
