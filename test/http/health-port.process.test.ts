// The health port: a thread of its own answers there as the server would, and also when the server hangs. [contract 7.24]
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { type Harness, send, startHarness } from '../support/harness.ts'
import { expectRefusal, siteForTest, takenPort, until } from '../support/program.ts'
import { shortenLimits } from '../support/short-limits.ts'

let harness: Harness
let health: string
beforeAll(async () => {
  const port = await freePort()
  health = `http://127.0.0.1:${port}`
  harness = await startHarness({ healthPort: port, trustProxy: ['127.0.0.1'] })
})
afterAll(() => harness.close())

describe('the health port', () => {
  test('has /livez, /readyz and /metrics, and nothing else', async () => {
    expect((await send(health, 'GET', '/livez')).body).toEqual({ ok: true })
    expect((await send(health, 'GET', '/readyz')).body).toEqual({ ok: true })
    expect((await send(health, 'HEAD', '/livez')).status).toBe(200)
    const metrics = await send(health, 'GET', '/metrics')
    expect(metrics.text).toMatch(/^roomkeeper_devices_connected 0$/m)
    expect(metrics.headers.get('content-type')).toBe(
      (await harness.call('GET', '/metrics')).headers.get('content-type'),
    )
    const { id, key } = await harness.newOrg()
    for (const path of ['/', '/docs', '/livezz', '/openapi.json', `/v1/orgs/${id}/regions`]) {
      expect((await send(health, 'GET', path, { key })).status, path).toBe(404)
    }
    expect((await send(health, 'POST', '/readyz')).status).toBe(405)
  })

  test('keeps the id of a request, and shows metrics to others only with a key that has Read [contract D.10]', async () => {
    const { key, newKey } = await harness.newOrg()
    const headers = { 'x-forwarded-for': '203.0.113.9', 'x-request-id': 'a-check' }
    const stranger = await send(health, 'GET', '/metrics', { headers })
    expect(stranger.status).toBe(401)
    expect(stranger.headers.get('x-request-id')).toBe('a-check')
    const writer = await newKey({ scopes: ['write'] })
    expect((await send(health, 'GET', '/metrics', { headers, key: writer })).status).toBe(403)
    expect((await send(health, 'GET', '/metrics', { headers, key })).status).toBe(200)
    for (const name of ['Forwarded', 'Via', 'X-Real-IP', 'X-Forwarded-Proto']) {
      expect((await send(health, 'GET', '/metrics', { headers: { [name]: 'x' } })).status, name).toBe(401)
    }
  })
})

test('the health port says 503 when the server hangs, and 200 when it goes on', async () => {
  // An event loop hangs after 4.4 s instead of 10.
  const site = await siteForTest(shortenLimits(0.3).variable)
  // Blocks its event loop for 7 seconds when it is told to.
  const block = `process.on('SIGUSR2', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 7000))`
  const program = site.launch(['serve', '--port', '0', '--health-port', '0', ...site.flags], {
    node: ['--import', `data:text/javascript,${encodeURIComponent(block)}`],
  })
  const [, port] = await program.printed(/"healthPort":(\d+)/, 'stderr')
  const url = `http://127.0.0.1:${port}`
  expect((await send(url, 'GET', '/livez')).status).toBe(200)
  expect((await send(url, 'GET', '/readyz')).status).toBe(200)
  program.signal('SIGUSR2')
  const refused = await until('readyz to be refused', async () => {
    const answer = await send(url, 'GET', '/readyz')
    return answer.status !== 200 && answer
  })
  expect(refused.body).toMatchObject({ status: 503, code: 'UNAVAILABLE' })
  expect(refused.headers.get('retry-after')).toBe('1')
  expect((await send(url, 'GET', '/livez')).status, 'it may only be busy').toBe(200)
  await until('livez to be refused', async () => (await send(url, 'GET', '/livez')).status === 503)
  await until('livez to be back', async () => (await send(url, 'GET', '/livez')).status === 200)
  await until('readyz to be back', async () => (await send(url, 'GET', '/readyz')).status === 200)
  expect(await program.stop()).toMatchObject({ code: 0 })
})

test('while the server shuts down, /livez is 200 on the health port and /readyz 503', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const own = await startHarness({ healthPort: port })
  const { id, key } = await own.newOrg()
  const socket = connect(Number(new URL(own.url).port), '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  let heard = ''
  socket.on('data', (piece) => {
    heard += piece
  })
  const head = [
    `POST /v1/orgs/${id}/regions HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Content-Length: 17',
    'Expect: 100-continue',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  await until('the request to be under way', () => heard.includes('100 Continue'))
  const closed = own.close()
  await until('it is not ready', async () => (await send(url, 'GET', '/readyz')).status === 503)
  expect((await send(url, 'GET', '/livez')).status).toBe(200)
  socket.write('{"name":"Europe"}')
  await until('its answer', () => heard.includes('HTTP/1.1 200 OK'))
  await closed
  await expect(fetch(`${url}/livez`)).rejects.toThrow()
})

test('a health port that is taken is refused with a sentence', async () => {
  const port = await takenPort()
  const site = await siteForTest()
  const ended = await site.run('serve', '--port', '0', '--health-port', `${port}`)
  expectRefusal(
    {
      ...ended,
      stderr: ended.stderr
        .split('\n')
        .filter((line) => !line.startsWith('{'))
        .join('\n'),
    },
    new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is taken\\..*--health-port`),
  )
})
