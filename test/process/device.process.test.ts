// Devices and the real program: killed in the middle, restarted, over TLS, and what its doors say when they cannot open.
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { devicePaths, type EnrolAnswer } from '../../src/contract/device/protocol.ts'
import { certificate } from '../support/certificate.ts'
import { TestDevice } from '../support/devices/test-device.ts'
import { freePort } from '../support/free-port.ts'
import { type Call, engine, send } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { expectRefusal, type Server, siteForTest, takenPort, until } from '../support/program.ts'

/** Calls of the organisation that the first start made, to whatever server runs now. */
function caller({ org, key }: Pick<Server, 'org' | 'key'>) {
  return async (server: Pick<Server, 'url'>, method: string, path: string, call: Call = {}) => {
    const reply = await send(server.url, method, `/v1/orgs/${org}${path}`, { key, ...call })
    expect(reply.status, reply.text).toBe(200)
    return reply.body
  }
}

async function enrolAt(server: Server, code: string, serial = 'S1', port = 0): Promise<TestDevice> {
  const body = { code, serial, model: 'NF19B1' }
  const { body: answer } = await send(server.url, 'POST', devicePaths.enrol, { body })
  const device = new TestDevice(port, serial, 'NF19B1', answer as EnrolAnswer)
  onTestFinished(() => device.close())
  return device
}

test('kill -9 in the middle: no device is shown as connected, nothing acknowledged is lost, nothing runs twice', async () => {
  const site = await siteForTest()
  const mqttPort = await freePort()
  const first = await site.serve('--mqtt-port', String(mqttPort))
  const call = caller(first)
  const { id: roomId, dec } = await call(first, 'POST', '/rooms', { body: { name: 'Fjord' } })
  const device = await enrolAt(first, dec, 'S1', mqttPort)
  const sleeper = await enrolAt(first, dec, 'S2', mqttPort)
  await device.connect()
  await device.publish('status', { firmwareVersion: '7' })
  await call(first, 'POST', `/endpoints/${device.id}/config`, { body: { nightMode: true } })
  const { operations } = await call(first, 'POST', `/endpoints/${device.id}/reboot`)
  const waiting = await call(first, 'POST', '/endpoints/send_message', {
    body: { message: 'Good morning.', endpointIds: [sleeper.id] },
  })
  expect(await device.next('operation')).toMatchObject({ id: operations[0].id, type: 'REBOOT' })
  await first.stop('SIGKILL')
  await device.ended()

  const second = await site.serve('--mqtt-port', String(mqttPort))
  expect(await call(second, 'GET', `/endpoints/${device.id}`)).toMatchObject({ connected: false, firmwareVersion: '7' })
  // The first device is reconnecting and left out, and the second one was never connected.
  expect((await call(second, 'GET', `/rooms/${roomId}`)).state).toBe('OFFLINE')
  // Sent, and not acknowledged: it comes again, with the same id, so that the device knows it.
  await device.connect()
  expect(await device.next('operation', 1000)).toMatchObject({ id: operations[0].id, type: 'REBOOT' })
  expect(device.received.filter((m) => m.kind === 'config').at(-1)?.body).toEqual({
    version: 1,
    config: { nightMode: true },
  })
  await device.publish('operation', { id: operations[0].id, state: 'SUCCEEDED' })
  await device.publish('config', { version: 1, config: { nightMode: true } })
  await second.stop('SIGKILL')

  const third = await site.serveHere('--mqtt-port', String(mqttPort))
  expect((await call(third, 'GET', `/operations/${operations[0].id}`)).state).toBe('SUCCEEDED')
  expect((await call(third, 'GET', `/endpoints/${device.id}/config/state`)).state).toBe('DELIVERED')
  await device.connect()
  await sleeper.connect()
  expect(await sleeper.next('operation', 1000)).toMatchObject({
    id: waiting.operations[0].id,
    message: 'Good morning.',
  })
  const before = device.received.length
  await device.publish('status', { orientation: 'landscape' })
  expect(device.received.slice(before), 'nothing is sent that was finished').toEqual([])
})

// The test above and crashes/ingest-crash.process.test.ts prove this promise in the short form.
test.runIf(isFullForm)('kill -9 under a stream of messages: every acknowledged one is there', async () => {
  const site = await siteForTest()
  const mqttPort = await freePort()
  const first = await site.serve('--mqtt-port', String(mqttPort))
  const call = caller(first)
  const { dec } = await call(first, 'POST', '/rooms', { body: { name: 'Fjord' } })
  const device = await enrolAt(first, dec, 'S1', mqttPort)
  await device.connect()
  let acknowledged = -1
  void (async () => {
    for (let i = 0; ; i++) {
      await device.publish('status', { hexapaBuild: String(i) })
      acknowledged = i
    }
  })().catch(() => {})
  await until('some are acknowledged', () => acknowledged > 100)
  await first.stop('SIGKILL')
  await device.ended()

  const second = await site.serveHere('--mqtt-port', String(mqttPort))
  const { hexapaBuild } = await call(second, 'GET', `/endpoints/${device.id}`)
  expect(Number(hexapaBuild)).toBeGreaterThanOrEqual(acknowledged)
})

test.runIf(engine === 'sqlite')(
  'over TLS, with the certificate of the API; a device gets the encrypted listeners first, and exposing the plain one warns',
  async () => {
    const site = await siteForTest()
    const files = certificate(site)
    const tls = ['--tls-cert', files.cert, '--tls-key', files.key, '--mqtt-tls-port', '0']
    const server = await site.serve(...tls, '--mqtt-host', '0.0.0.0')
    await server.printed(/without TLS: credentials are sent unencrypted/, 'stderr')
    const ca = readFileSync(files.cert)
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    onTestFinished(() => {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    })
    const call = caller(server)
    const { dec } = await call(server, 'POST', '/rooms', { body: { name: 'Fjord' } })
    const device = await enrolAt(server, dec)
    const [mqtts = '', wss = '', plain = ''] = device.connectUrls
    expect([mqtts, wss, plain].map((url) => new URL(url).protocol)).toEqual(['mqtts:', 'wss:', 'mqtt:'])
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    for (const url of [mqtts, wss]) {
      await device.connect({ url, ca })
      await device.publish('status', { orientation: url.slice(0, 5) })
      await device.close()
    }
  },
  60_000,
)

test.runIf(engine === 'sqlite')(
  'a listener that cannot open is an error that names the port',
  async () => {
    const site = await siteForTest()
    const port = await takenPort()
    const serve = (...args: string[]) => site.run('serve', '--port', '0', ...args)
    expectRefusal(await serve('--mqtt-port', String(port)), /Port \d+ on 127\.0\.0\.1 is taken.*--mqtt-port/)
    expectRefusal(await serve('--mqtt-tls-port', '0'), /--mqtt-tls-port needs --tls-cert and --tls-key/)
    expectRefusal(await serve('--mqtt-port', 'x'), /--mqtt-port .* must be a port from 0 to 65535, or off/)
    expectRefusal(await serve('--mqtt-host', '203.0.113.1'), /no address 203\.0\.113\.1.*--mqtt-host/)
  },
  60_000,
)

test.runIf(engine === 'sqlite')(
  '--mqtt-port off closes the plain listener',
  async () => {
    const site = await siteForTest()
    const closed = await site.serve('--mqtt-port', 'off', '--mqtt-host', '0.0.0.0')
    const call = caller(closed)
    const { dec } = await call(closed, 'POST', '/rooms', { body: { name: 'Fjord' } })
    const device = await enrolAt(closed, dec)
    expect(device.connectUrls).toEqual([`${closed.publicUrl.replace('http', 'ws')}${devicePaths.mqtt}`])
    expect(closed.stderr).not.toContain('without TLS')
  },
  60_000,
)
