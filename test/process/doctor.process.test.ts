// `roomkeeper doctor`: what it finds on a healthy installation, and its verdict for each thing that can be wrong.
import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { certificate } from '../support/certificate.ts'
import { freePort } from '../support/free-port.ts'
import { engine } from '../support/harness.ts'
import { emptySiteForTest, newSite, type Site, siteForTest, takenPort } from '../support/program.ts'
import { type Ended, runHere } from '../support/run-here.ts'

interface Finding {
  readonly state: string
  readonly subject: string
  readonly message: string
}

const database = engine === 'sqlite' ? /^SQLite \d/ : /^PostgreSQL \d/

/** The findings, and that the exit code and the sentence at the end follow from them. */
function findingsOf({ code, stdout, stderr }: Ended): Finding[] {
  const { ok, findings } = JSON.parse(stdout)
  const failures = findings.filter(({ state }: Finding) => state === 'failed').length
  expect(ok).toBe(failures === 0)
  expect(code).toBe(ok ? 0 : 1)
  expect(stderr).toBe(ok ? '' : failures === 1 ? '1 check failed.\n' : `${failures} checks failed.\n`)
  return findings
}
/** Node reads NODE_EXTRA_CA_CERTS when it starts, so that variable needs a process. */
const examine = async (site: Site, args: string[], env?: Record<string, string>) =>
  findingsOf(
    env
      ? await site.launch(['doctor', '--json', ...site.flags, ...args], { env }).exit()
      : await site.run('doctor', '--json', ...args),
  )
const about = (findings: Finding[], subject: string) => findings.filter((one) => one.subject === subject)
const states = (findings: Finding[]) => Object.fromEntries(findings.map(({ subject, state }) => [subject, state]))

test('before the first start it warns, fails nothing and creates nothing', async () => {
  const site = await emptySiteForTest()
  const port = await freePort()
  const findings = await examine(site, ['--port', String(port), '--mqtt-port', 'off'])
  expect(states(findings)).toEqual({
    database: 'warning',
    disk: 'ok',
    clock: 'ok',
    certificate: 'warning',
    [`port ${port}`]: 'ok',
    'public address': 'warning',
    devices: 'warning',
  })
  expect(readdirSync(site.dataDir)).toEqual([])
  if (engine === 'postgres') await expect(site.sql('SELECT 1 FROM orgs')).rejects.toThrow(/does not exist/)
})

describe('beside a running server with TLS', () => {
  let site: Site
  let options: string[]
  let trusting: Record<string, string>
  let ports: { http: number; mqtt: number; mqtts: number }
  beforeAll(async () => {
    site = await newSite()
    ports = { http: await freePort(), mqtt: await freePort(), mqtts: await freePort() }
    const tls = certificate(site)
    trusting = { NODE_EXTRA_CA_CERTS: tls.cert }
    const listeners = ['--port', `${ports.http}`, '--mqtt-port', `${ports.mqtt}`, '--mqtt-tls-port', `${ports.mqtts}`]
    options = [...listeners, '--tls-cert', tls.cert, '--tls-key', tls.key]
    await site.serveHere(...options, '--public-url', `https://127.0.0.1:${ports.http}`)
  })
  afterAll(() => site.close())
  const withPublicUrl = (url: string) => [...options, '--public-url', url]

  test('everything is ok but a certificate that soon expires, and a device can connect to each address', async () => {
    const findings = await examine(site, withPublicUrl(`https://127.0.0.1:${ports.http}`), trusting)
    const [first] = about(findings, 'database')
    expect(first).toMatchObject({ state: 'ok', message: expect.stringMatching(database) })
    expect(about(findings, 'certificate')[0]).toMatchObject({ state: 'warning', message: /valid for 0 more days/ })
    expect(findings.filter(({ state }) => state !== 'ok').map(({ subject }) => subject)).toEqual(['certificate'])
    expect(about(findings, 'secret key')[0]?.message).toContain('fits the database')
    expect(about(findings, 'devices').map(({ message }) => message)).toEqual([
      `A device can connect to mqtts://127.0.0.1:${ports.mqtts}.`,
      `A device can connect to wss://127.0.0.1:${ports.http}/device/v1/mqtt.`,
      `A device can connect to mqtt://127.0.0.1:${ports.mqtt}.`,
    ])
    for (const port of Object.values(ports)) {
      expect(about(findings, `port ${port}`)).toMatchObject([{ state: 'ok', message: 'A running Roomkeeper uses it.' }])
    }
  })

  test('a certificate that devices do not trust fails their view, and one for another name fails itself', async () => {
    const untrusted = await examine(site, withPublicUrl(`https://127.0.0.1:${ports.http}`))
    expect(about(untrusted, 'public address')[0]).toMatchObject({ state: 'failed', message: /self-signed certificate/ })
    expect(about(untrusted, 'devices').map(({ state }) => state)).toEqual(['failed', 'failed', 'ok'])
    const elsewhere = await examine(site, withPublicUrl('https://rooms.invalid'), trusting)
    expect(about(elsewhere, 'certificate')[0]).toMatchObject({ state: 'failed', message: /not for rooms\.invalid/ })
    expect(about(elsewhere, 'public address')[0]).toMatchObject({
      state: 'failed',
      message: /does not reach this server/,
    })
    expect(about(elsewhere, 'devices').map(({ state }) => state)).toEqual(['failed'])
  })
})

test('a wrong secret key, a taken port, an open key file and a clock that is behind are found', async () => {
  const site = await siteForTest()
  const port = await takenPort()
  const server = await site.serveHere()
  await server.stop()
  chmodSync(site.secretKeyFile, 0o644)
  const readable = await examine(site, ['--port', `${port}`, '--mqtt-port', 'off'])
  expect(about(readable, 'secret key')[0]).toMatchObject({ state: 'warning', message: /chmod 600/ })
  expect(about(readable, `port ${port}`)[0]).toMatchObject({ state: 'failed', message: /Another program uses it/ })

  const other = join(site.dataDir, 'other.key')
  writeFileSync(other, `${'0'.repeat(64)}\n`)
  await site.sql(`UPDATE audit_log SET timestamp = timestamp + 86400000`)
  const findings = await examine(site, ['--port', '0', '--mqtt-port', 'off', '--secret-key-file', other])
  expect(about(findings, 'secret key')[0]).toMatchObject({ state: 'failed', message: /not the secret key/ })
  expect(about(findings, 'clock')[0]).toMatchObject({ state: 'failed', message: /newest audit entry/ })
  expect(about(findings, 'database')[0]).toMatchObject({ state: 'ok' })
})

test('another HTTPS server on the port does not pass for Roomkeeper, and the health port is examined too', async () => {
  const site = await siteForTest()
  const tls = certificate(site)
  const other = createServer({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, (_, response) => {
    response.end('something else')
  })
  await once(other.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void other.close())
  const { port } = other.address() as AddressInfo
  const health = await takenPort()
  const options = ['--port', `${port}`, '--mqtt-port', 'off', '--health-port', `${health}`]
  const findings = await examine(site, [...options, '--tls-cert', tls.cert, '--tls-key', tls.key])
  for (const [taken, option] of [
    [port, '--port'],
    [health, '--health-port'],
  ]) {
    const message = `Another program uses it. Stop that, or choose another with ${option}.`
    expect(about(findings, `port ${taken}`)).toEqual([{ state: 'failed', subject: `port ${taken}`, message }])
  }
  expect(about(findings, 'public address')[0]).toMatchObject({ state: 'warning', message: /no server runs here/ })
})

test('a database that does not answer is a failed line of its text, without the password', async () => {
  const site = await siteForTest()
  const url = `postgres://roomkeeper:hunter2@127.0.0.1:${await freePort()}/none`
  const place = ['--data-dir', site.dataDir, '--database-url', url]
  const ended = await runHere(['doctor', '--port', '0', '--mqtt-port', 'off', ...place])
  expect(ended.stdout).toMatch(
    /^failed {3}database {8}Cannot reach PostgreSQL: .*ECONNREFUSED.* Check --database-url\.$/m,
  )
  expect(ended.stdout).toMatch(/^ok {7}disk {12}\d+ MiB are free/m)
  expect(ended.stdout + ended.stderr).not.toContain('hunter2')
  expect(ended).toMatchObject({ code: 1, stderr: '1 check failed.\n' })
})
