// The memory and timers of a request are released when its connection ends, also if its body never arrived.
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { minuteMs } from '../../src/contract/durations.ts'
import { timeLimits } from '../../src/server/core/time-limits.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { siteForTest, until } from '../support/program.ts'

let harness: Harness
beforeAll(async () => {
  // No timer of a body ends by itself while a test waits.
  const bodyMs = 10 * minuteMs
  const limits = { ...timeLimits, strangerBodyMs: bodyMs, parsedBodyMs: bodyMs, bundleMs: bodyMs, idleUploadMs: bodyMs }
  harness = await startHarness({}, { limits })
})
afterAll(() => harness.close())

const head = (line: string, ...headers: string[]) => `${[line, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`

/** Requests that announce a body and are answered before it arrives. */
const unfinished = {
  'an unknown path': head('POST /nowhere HTTP/1.1', 'Content-Length: 50'),
  'no token': head('POST /v1/orgs/x/regions HTTP/1.1', 'Content-Length: 50', 'Content-Type: application/json'),
  'a read with a body in chunks': head('GET /livez HTTP/1.1', 'Transfer-Encoding: chunked'),
  'an upload without a credential': head('PUT /device/v1/logs/a/b HTTP/1.1', 'Content-Length: 50'),
}

/** Sends a request and its first bytes, and waits for the answer. */
async function answered(url: string, text: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await new Promise<void>((resolve, reject) => {
    socket.once('data', () => resolve()).once('close', () => reject(new Error('closed without an answer')))
    socket.write(text)
  })
  return socket
}

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

test.each(Object.entries(unfinished))('no timer stays for %s', async (_what, text) => {
  const before = timers()
  const sockets = await Promise.all(Array.from({ length: 40 }, () => answered(harness.url, text)))
  for (const socket of sockets) socket.destroy()
  // The service's own timers come and go during that time, but there are fewer of them.
  await until('the timers to go', () => timers() < before + 20)
})

test('unfinished bodies, with and without their clients, hold up no shutdown', async () => {
  const site = await siteForTest()
  const server = await site.serve()
  for (const text of Object.values(unfinished)) {
    for (let i = 0; i < 10; i++) {
      const socket = await answered(server.url, text)
      if (i % 2 === 0) socket.destroy()
    }
  }
  const started = performance.now()
  expect(await server.stop('SIGTERM')).toMatchObject({ code: 0 })
  expect(performance.now() - started, 'it waits so long for requests').toBeLessThan(timeLimits.requestDrainMs)
})
