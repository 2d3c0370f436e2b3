// A server without --public-url that only this machine reaches: its public address is localhost, over IPv4 and IPv6. [contract 11.local]
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { connectAsync } from 'mqtt'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { devicePaths } from '../../src/contract/device/protocol.ts'
import { startService } from '../../src/server/app.ts'
import { own } from '../support/console/console-session.ts'
import { freePort } from '../support/free-port.ts'
import { type Harness, newPlace, quiet, send, startHarness } from '../support/harness.ts'

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
const waysAt = async (url: string) => (await send(url, 'GET', '/console/sign-in', { headers: own })).body

let harness: Harness
let port: string
beforeAll(async () => {
  harness = await startHarness()
  port = new URL(harness.url).port
})
afterAll(() => harness.close())

const isOpen = (host: string, at: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(at, host)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    onTestFinished(() => void socket.destroy())
  })

/** A device with a wrong credential is refused by the service itself. */
const refusalAt = (url: string, host = 'localhost') =>
  connectAsync(
    url,
    { clientId: 'x', username: 'x', password: 'x', protocolVersion: 4, reconnectPeriod: 0, host, hostname: host },
    false,
  ).then(
    () => undefined,
    (error) => error.code,
  )

test('people and devices get the address of localhost, passkeys work there, and company accounts are off', async () => {
  const url = `http://localhost:${port}`
  expect(harness.services.publicUrl()).toBe(url)
  const org = await harness.newOrg()
  const { body } = await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  const { body: answer } = await send(url, 'POST', devicePaths.enrol, {
    body: { code: body.dec, serial: 'S1', model: 'NF19B1' },
  })
  expect(answer.connect).toEqual([`mqtt://localhost:${harness.mqttPort}`, `ws://localhost:${port}${devicePaths.mqtt}`])
  for (const address of answer.connect) expect(await refusalAt(address), address).toBe(5)
  for (const at of [url, harness.url]) {
    expect(await waysAt(at)).toEqual({
      passkeys: { available: true, origin: url, url },
      providers: [],
    })
  }
  const options = await send(url, 'POST', '/console/sign-in/passkey/options', { headers: own })
  expect(options.body).toMatchObject({ rpId: 'localhost' })
})

describe.runIf(hasIpv6)('where the machine has ::1', () => {
  test('HTTP, WebSocket and MQTT are served there too', async () => {
    expect((await send(`http://[::1]:${port}`, 'GET', '/livez')).body).toEqual({ ok: true })
    const webSocket = new WebSocket(`ws://[::1]:${port}${devicePaths.mqtt}`, 'mqtt')
    await once(webSocket, 'open')
    webSocket.close()
    expect(await refusalAt(`mqtt://localhost:${harness.mqttPort}`, '::1')).toBe(5)
  })

  test('it is not opened for a server that has a public address', async () => {
    const other = await startHarness({ publicUrl: 'https://rooms.example.org' }, { nodes: 1 })
    onTestFinished(() => other.close())
    expect(await isOpen('::1', Number(new URL(other.url).port))).toBe(false)
    expect(await isOpen('::1', other.mqttPort)).toBe(false)
  })

  test('a start is refused if another program has the port there, because localhost would lead to it', async () => {
    const other = createServer().listen(0, '::1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const taken = (other.address() as { port: number }).port
    const { place, remove } = await newPlace()
    onTestFinished(remove)
    for (const options of [{ port: taken }, { mqttPort: taken }]) {
      await expect(startService({ ...quiet, ...place, ...options }, pino({ level: 'silent' }))).rejects.toThrow(
        new RegExp(`^Port ${taken} on ::1 is taken\\.`),
      )
    }
  })

  test('a stop ends the connections there, and takes no new ones', async () => {
    const { place, remove } = await newPlace()
    onTestFinished(remove)
    const at = await freePort()
    const service = await startService({ ...quiet, ...place, port: at }, pino({ level: 'silent' }))
    const socket = connect(at, '::1').on('error', () => {})
    await once(socket, 'connect')
    socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(socket, 'data')
    const ended = new Promise((resolve) => socket.once('close', resolve))
    await service.close()
    await ended
    expect(await isOpen('::1', at)).toBe(false)
  })
})

test.each([
  ['127.0.0.2', /^http:\/\/127\.0\.0\.2:/],
  ['0.0.0.0', /^http:\/\/127\.0\.0\.1:/],
])(
  'a server on %s, to which localhost does not lead or which others reach, has no passkeys without --public-url',
  async (host, address) => {
    const other = await startHarness({ host }, { nodes: 1 })
    onTestFinished(() => other.close())
    expect(other.services.publicUrl()).toMatch(address)
    const { passkeys } = await waysAt(other.url)
    expect(passkeys).toEqual({ available: false, reason: expect.stringContaining('--public-url') })
  },
)
