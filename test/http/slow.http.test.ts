// Tests how long the service waits for requests that arrive slowly. [contract 7.21]
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { countCpuWaits } from '../support/cpu-time.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { until } from '../support/program.ts'
import { shortenLimits } from '../support/short-limits.ts'

/** A head is waited for 3.8 s instead of 20, a body with a valid key 7.8 s instead of 60. */
const { limits } = shortenLimits(0.1)
/** Node checks heads every 2 s, and a busy machine takes a while to close a connection. */
const slackMs = 5000

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({}, { limits })
})
afterAll(() => harness.close())

/** Sends the text, then a byte again and again, as long as the server lets it. */
function trickle(text: string, byte: string) {
  const begunAt = performance.now()
  const heard = { text: '', closedAfterMs: 0 }
  const socket = connect(Number(new URL(harness.url).port), '127.0.0.1', () => socket.write(text))
  const timer = setInterval(() => socket.writable && socket.write(byte), 500)
  const stop = () => {
    clearInterval(timer)
    socket.destroy()
  }
  onTestFinished(stop)
  socket.on('data', (piece) => {
    heard.text += piece
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    heard.closedAfterMs = performance.now() - begunAt
    stop()
  })
  return heard
}

const head = (line: string, ...headers: string[]) => `${[line, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`
const json = ['Content-Type: application/json', 'Content-Length: 4000']

test('without a credential, neither a slow head nor a slow body is read for 30 seconds', async () => {
  const { id, key } = await harness.newOrg()
  const cpuWaitMs = countCpuWaits()
  const slow = {
    'a head': [trickle('GET /livez HTTP/1.1\r\nHost: x\r\nX-Long: ', 'a'), 408],
    'an upload': [trickle(head('PUT /device/v1/logs/a/b HTTP/1.1', 'Content-Length: 5000'), 'a'), 401],
    'an enrolment': [trickle(head('POST /device/v1/enrol HTTP/1.1', ...json), ' '), 408],
    'a body with a wrong token': [
      trickle(head(`POST /v1/orgs/${id}/regions HTTP/1.1`, 'Authorization: Bearer x', ...json), ' '),
      401,
    ],
    'a body for nowhere': [trickle(head('POST /nowhere HTTP/1.1', 'Transfer-Encoding: chunked'), '1\r\na\r\n'), 404],
  } as const
  const authorised = trickle(head(`POST /v1/orgs/${id}/regions HTTP/1.1`, `Authorization: Bearer ${key}`, ...json), ' ')
  const { requestHeadMs, strangerBodyMs, parsedBodyMs } = limits
  const expectEnd = async (what: string, heard: ReturnType<typeof trickle>, limitMs: number, status: number) => {
    await until(`${what} to be cut off`, () => heard.closedAfterMs > 0)
    expect(heard.closedAfterMs, what).toBeGreaterThan(limitMs - 100)
    expect(heard.closedAfterMs, what).toBeLessThan(limitMs + slackMs + cpuWaitMs())
    expect(heard.text.match(/HTTP\/1\.1 \d{3}/g), what).toEqual([`HTTP/1.1 ${status}`])
  }
  for (const [what, [heard, status]] of Object.entries(slow)) {
    await expectEnd(what, heard, what === 'a head' ? requestHeadMs : strangerBodyMs, status)
  }
  await expectEnd('a body with a valid key', authorised, parsedBodyMs, 408)
})
