// Tests that a renewed certificate is taken over while the server runs, and that a broken one is not; and the limit of a handshake.
import { once } from 'node:events'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { Agent, get } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { devicePaths, type EnrolAnswer } from '../../src/contract/device/protocol.ts'
import { dayMs } from '../../src/contract/durations.ts'
import { certificate } from '../support/certificate.ts'
import { countCpuWaits } from '../support/cpu-time.ts'
import { TestDevice } from '../support/devices/test-device.ts'
import { freePort } from '../support/free-port.ts'
import { send } from '../support/harness.ts'
import { newSite, type Server, type Site, until } from '../support/program.ts'
import { shortenLimits } from '../support/short-limits.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'roomkeeper-certificate-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Makes a certificate and its key in a folder of their own. */
function newPair(name: string, options = {}): { cert: string; key: string } {
  mkdirSync(join(folder, name))
  return certificate({ dataDir: join(folder, name) }, options)
}

interface SecureServer {
  readonly server: Server
  readonly mqttsPort: number
}

async function serveAt(site: Site, cert: string, key: string): Promise<SecureServer> {
  const mqttsPort = await freePort()
  const server = await site.serve('--tls-cert', cert, '--tls-key', key, '--mqtt-tls-port', String(mqttsPort))
  return { server, mqttsPort }
}

/** Returns the fingerprint of the certificate that a new connection gets. */
const fingerprintAt = (port: number) =>
  new Promise<string>((resolve, reject) => {
    const socket: TLSSocket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    }).once('error', reject)
  })

const fingerprints = async ({ server, mqttsPort }: SecureServer) => [
  await fingerprintAt(Number(new URL(server.url).port)),
  await fingerprintAt(mqttsPort),
]

function answer(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, async (response) => {
      resolve((await response.setEncoding('utf8').toArray()).join(''))
    }).once('error', reject)
  })
}

async function expiryMetric({ server }: SecureServer): Promise<number> {
  const text = await answer(`${server.url}/metrics`, new Agent({ rejectUnauthorized: false }))
  return Number(/^roomkeeper_tls_certificate_expiry_timestamp_seconds (\S+)$/m.exec(text)?.[1])
}

async function connectDevice({ server, mqttsPort }: SecureServer, ca: Buffer): Promise<TestDevice> {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  try {
    const room = await send(server.url, 'POST', `/v1/orgs/${server.org}/rooms`, {
      key: server.key,
      body: { name: 'Fjord' },
    })
    const body = { code: room.body.dec, serial: 'S1', model: 'NF19B1' }
    const enrolled = await send(server.url, 'POST', devicePaths.enrol, { body })
    const device = new TestDevice(mqttsPort, 'S1', 'NF19B1', enrolled.body as EnrolAnswer)
    onTestFinished(() => device.close())
    await device.connect({ url: `mqtts://127.0.0.1:${mqttsPort}`, ca })
    return device
  } finally {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  }
}

async function incidentsOf({ url, org, key }: Server): Promise<Record<string, unknown>[]> {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  try {
    return (await send(url, 'GET', `/v1/orgs/${org}/incidents?state=all`, { key })).body.incidents
  } finally {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  }
}

/** The second test goes on with the server of the first one. */
describe('in files of its own', () => {
  let site: Site
  let running: SecureServer
  let [cert, key] = ['', '']
  beforeAll(async () => {
    ;({ cert, key } = newPair('expiring', { lifetimeDays: 10 }))
    site = await newSite()
    running = await serveAt(site, cert, key)
  })
  afterAll(() => site.close())

  test('a pair that is written one file after the other is taken over when it fits, and no connection is closed; the incident of a certificate that expires in 10 days ends [contract 10.rule]', async () => {
    const next = newPair('renewed', { lifetimeDays: 90 })
    const { server } = running
    const before = await fingerprints(running)
    expect(new Set(before).size).toBe(1)
    const device = await connectDevice(running, readFileSync(cert))
    const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
    let opened = 0
    agent.on('keylog', () => {
      opened += 1
    })
    await answer(`${server.url}/livez`, agent)
    const linesOfOneHandshake = opened
    const [incident, ...others] = await until('an incident is open', async () => {
      const all = await incidentsOf(server)
      return all.length > 0 && all
    })
    expect(others).toEqual([])
    expect(incident).toMatchObject({ rule: 'certificate.expiring', state: 'OPEN', severity: 'WARNING' })

    copyFileSync(next.cert, cert)
    // The old key does not fit to the new certificate: this is not an error yet.
    expect(await fingerprintAt(running.mqttsPort)).toBe(before[1])
    copyFileSync(next.key, key)
    await server.printed(/"msg":"certificate renewed"/, 'stderr')
    const after = await fingerprints(running)
    expect(new Set(after).size).toBe(1)
    expect(after).not.toEqual(before)
    expect(server.stderr).not.toContain('certificate not renewed')
    expect((await expiryMetric(running)) * 1000).toBeGreaterThan(Date.now() + 89 * dayMs)

    await answer(`${server.url}/livez`, agent)
    expect(opened, 'the kept connection was used, without another handshake').toBe(linesOfOneHandshake)
    await device.publish('status', { firmwareVersion: '7' })
    agent.destroy()
    await until('the incident is resolved', async () => (await incidentsOf(server))[0]?.state === 'RESOLVED')
    expect(await incidentsOf(server)).toMatchObject([{ id: incident?.id, openSubjectCount: 0 }])
  })

  test('a broken, foreign or expired certificate is refused with one error, and the one before stays', async () => {
    const foreign = newPair('foreign')
    const expired = newPair('expired', { lifetimeDays: -1 })
    const next = newPair('next')
    const { server } = running
    const before = await fingerprints(running)
    const errors = () => [...server.stderr.matchAll(/^.*"msg":"certificate not renewed.*$/gm)].map(([line]) => line)

    writeFileSync(cert, 'no certificate at all')
    await until('the broken certificate is reported', () => errors().length === 1)
    copyFileSync(foreign.cert, cert)
    await until('the foreign certificate is reported', () => errors().length === 2)
    expect(errors()[1]).toMatch(/key values mismatch.*They must be a PEM certificate and its own key/)
    copyFileSync(expired.cert, cert)
    copyFileSync(expired.key, key)
    await until('the expired certificate is reported', () => errors().length === 3)
    expect(errors()[2]).toMatch(/expired at .*Put a renewed certificate there/)
    rmSync(cert)
    server.signal('SIGHUP')
    await until('SIGHUP reports at once', () => errors().length === 4)
    expect(errors()[3]).toMatch(/Cannot read --tls-cert .*ENOENT/)
    expect(await fingerprints(running)).toEqual(before)
    expect(server.stderr).not.toContain('PRIVATE KEY')

    copyFileSync(next.key, key)
    copyFileSync(next.cert, cert)
    server.signal('SIGHUP')
    const renewals = () => server.stderr.split('"msg":"certificate renewed"').length - 1
    await until('the renewed certificate is taken over', () => renewals() === 2)
    expect(await fingerprints(running)).not.toEqual(before)
    expect((await server.stop()).code).toBe(0)
  })
})

describe('behind a symbolic link', () => {
  const { limits, variable } = shortenLimits(0.1)
  let site: Site
  let running: SecureServer
  const pointTo = (target: string) => {
    symlinkSync(target, join(folder, '..tmp'))
    renameSync(join(folder, '..tmp'), join(folder, '..data'))
  }
  beforeAll(async () => {
    newPair('first')
    newPair('second')
    pointTo('first')
    for (const name of ['cert.pem', 'key.pem']) symlinkSync(join('..data', name), join(folder, name))
    site = await newSite(variable)
    running = await serveAt(site, join(folder, 'cert.pem'), join(folder, 'key.pem'))
  })
  afterAll(() => site.close())

  test('a link that is swapped, as certbot and Kubernetes do, is followed; SIGHUP reads it at once', async () => {
    const before = await fingerprints(running)
    running.server.signal('SIGHUP')
    await running.server.printed(/"msg":"certificate files are unchanged"/, 'stderr')
    pointTo('second')
    running.server.signal('SIGHUP')
    await running.server.printed(/"msg":"certificate renewed"/, 'stderr')
    expect(await fingerprints(running)).not.toEqual(before)
  })

  test('a connection that begins no TLS handshake is closed within 15 seconds [contract 7.21]', async () => {
    const { server, mqttsPort } = running
    const cpuWaitMs = countCpuWaits(server.pid)
    const silent = [Number(new URL(server.url).port), mqttsPort].map(async (port) => {
      const begunAt = performance.now()
      const socket = connectTcp(port, '127.0.0.1').on('error', () => {})
      onTestFinished(() => void socket.destroy())
      await once(socket.resume(), 'close')
      return performance.now() - begunAt
    })
    for (const closedAfterMs of await Promise.all(silent)) {
      expect(closedAfterMs).toBeGreaterThan(limits.tlsHandshakeMs - 100)
      expect(closedAfterMs).toBeLessThan(limits.tlsHandshakeMs + 5000 + cpuWaitMs())
    }
  })
})
