// Starting the real program: what the first start shows, and what later ones do not.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { certificate } from '../support/certificate.ts'
import { need } from '../support/debian.ts'
import { engine, send } from '../support/harness.ts'
import {
  newSite,
  ready,
  type Server,
  type Site,
  siteForTest,
  startTimeoutMs,
  takenPort,
  terminalStarter,
} from '../support/program.ts'

const run = promisify(execFile)
const anyKey = /rk[sl]?_[0-9A-Za-z]{20}/

/** A server that is only looked at. */
let first: Server
let firstSite: Site
beforeAll(async () => {
  firstSite = await newSite({}, { hasTables: false })
  rmSync(firstSite.dataDir, { recursive: true })
  // Without an option for the data folder.
  first = await ready(firstSite.launch(['serve', '--port', '0', ...firstSite.flags.slice(2)]))
})
afterAll(() => firstSite.close())

test('the first start prints the address and the organisation', () => {
  expect(first.publicUrl).toMatch(/^http:\/\/localhost:\d+$/)
  expect(first.org).toMatch(/^[\w-]{7}$/)
  expect(first.stdout + first.stderr).not.toMatch(anyKey)
})

test('the first line of the log and a metric say which version and commit run, on which Node and database', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const database = expect.stringMatching(engine === 'sqlite' ? /^SQLite \d+\.\d+\.\d+$/ : /^PostgreSQL \d+\.\d+$/)
  const line = JSON.parse(first.stderr.split('\n')[0] ?? '')
  expect(line).toMatchObject({ msg: 'ready', version, node: process.versions.node, database })
  expect(line.commit).toMatch(/^[0-9a-f]{12}/)
  const metrics = await (await fetch(`${first.url}/metrics`)).text()
  const labels = `version="${version}",commit="${line.commit}",node="${process.versions.node}",database="${line.database}"`
  expect(metrics.split('\n')).toContain(`roomkeeper_build_info{${labels}} 1`)
})

test('the first key has Read, Write and manage, on both bases', async () => {
  const { url, org, key } = first
  for (const base of ['/v1', '/api/v1']) {
    const at = `${base}/orgs/${org}`
    const created = await send(url, 'POST', `${at}/regions`, { key, body: { name: base } })
    const { regions } = (await send(url, 'GET', `${at}/regions`, { key })).body
    expect(regions).toContainEqual({ id: created.body.id, name: base, locations: [] })
    const { keys } = (await send(url, 'GET', `${at}/keys`, { key })).body
    expect(keys).toEqual([expect.objectContaining({ scopes: ['read', 'write'], manage: true })])
    await send(url, 'DELETE', `${at}/regions/${created.body.id}`, { key })
  }
})

test('the secret key lies outside the database, readable by its owner alone', () => {
  expect(statSync(firstSite.secretKeyFile).mode & 0o777).toBe(0o600)
})

test('without options the program listens on this machine only and keeps everything in ./data', async () => {
  expect(first.publicUrl).toMatch(/^http:\/\/localhost:/)
  expect(existsSync(firstSite.secretKeyFile)).toBe(true)
  if (engine === 'sqlite') expect(existsSync(join(firstSite.dataDir, 'roomkeeper.db'))).toBe(true)
  // A server on every address would be reached at this one too.
  const reached = await new Promise((resolve) => {
    const socket = connect(Number(new URL(first.url).port), '127.0.0.2')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    onTestFinished(() => void socket.destroy())
  })
  expect(reached).toBe(false)
})

/** Another way to write 127.0.0.1, which the program does not take for an address of this machine alone. */
const widerHost = '127.1'
const plainWarning = `Listening on ${widerHost} without HTTPS: API keys are sent unencrypted.`

test.runIf(engine === 'sqlite')(
  'every option of serve is also an environment variable, and the logs never contain a key, however much is logged',
  async () => {
    const site = await siteForTest()
    const secretKeyFile = join(site.dataDir, 'elsewhere.key')
    const program = site.launch(['serve'], {
      env: {
        ROOMKEEPER_PORT: '0',
        ROOMKEEPER_HOST: widerHost,
        ...site.variables,
        ROOMKEEPER_SECRET_KEY_FILE: secretKeyFile,
        ROOMKEEPER_PUBLIC_URL: 'https://rooms.example.org/',
        ROOMKEEPER_TRUST_PROXY: '127.0.0.0/8,::1',
        ROOMKEEPER_MQTT_PORT: '0',
        ROOMKEEPER_SAMPLE_RETENTION: '7',
        ROOMKEEPER_ROLLUP_RETENTION: '7',
        ROOMKEEPER_DAILY_RETENTION: '7',
        ROOMKEEPER_ROOM_FRESHNESS: '5',
        ROOMKEEPER_AIR_LIMITS: 'co2=..800,voc=off',
        ROOMKEEPER_CORS_ORIGIN: 'https://console.example.org',
        ROOMKEEPER_RATE_LIMIT: '50',
        ROOMKEEPER_RATE_BURST: '70',
        ROOMKEEPER_AUTH_FAILURE_LIMIT: '0',
        ROOMKEEPER_LOG_LEVEL: 'trace',
        ROOMKEEPER_LOG_REQUESTS: 'all',
      },
    })
    const { org, key, url: publicUrl } = await ready(program)
    expect(publicUrl).toBe('https://rooms.example.org')
    expect(program.stderr).toContain(plainWarning)
    expect(program.stderr, 'links have the public address').not.toContain('Links')
    expect(existsSync(secretKeyFile)).toBe(true)
    expect(existsSync(site.secretKeyFile)).toBe(false)
    const [, url = ''] = await program.printed(/"url":"([^"]+)"/, 'stderr')
    const headers = { 'x-forwarded-for': '203.0.113.9', origin: 'https://console.example.org' }
    const created = await send(url, 'POST', `/v1/orgs/${org}/regions`, { key, headers, body: { name: 'Europe' } })
    expect(created.headers.get('access-control-allow-origin')).toBe('https://console.example.org')
    expect(created.headers.get('ratelimit-policy')).toContain('q=70')
    await send(url, 'POST', `/v1/orgs/${org}/rooms`, { key, body: { name: 'Fjord' } })
    const empty = await send(url, 'GET', `/v1/orgs/${org}/rooms/1/sensor`, { key })
    expect(empty.body.message).toContain('room 1 has no sample of the last 5 minutes')
    const { logs } = (await send(url, 'GET', `/v1/orgs/${org}/audit/logs?from=2000-01-01&to=2999-01-01`, { key })).body
    expect(logs[1]).toMatchObject({ type: 'REGION_CREATED', ip: '203.0.113.9' })
    expect((await send(url, 'GET', '/openapi.json')).body.servers[0].url).toContain('https://rooms.example.org')
    await program.printed(/"operation":"auditLogs"/, 'stderr')
    const signIn = { headers: { origin: 'https://rooms.example.org' }, body: { key } }
    const { airLimits } = (await send(url, 'POST', '/console/session', signIn)).body
    expect(airLimits).toMatchObject({ co2: { max: 800 }, voc: {}, temp: { min: 18, max: 27 } })

    const at = `/v1/orgs/${org}`
    const made = await send(url, 'POST', `${at}/keys`, { key, body: { name: 'Second', scopes: ['read'] } })
    await send(url, 'GET', `${at}/regions`, { key: made.body.key })
    await send(url, 'POST', `${at}/regions`, { key: made.body.key, body: { name: 'Refused' } })
    await send(url, 'GET', `${at}/regions`, { key: `${key.slice(0, -1)}?` })
    await send(url, 'POST', `${at}/regions`, { key, body: { name: '' } })
    const { stderr } = await program.stop()
    expect(stderr).toContain('"operation":"keysCreate"')
    expect(stderr).toContain('token refused')
    expect(stderr).not.toMatch(anyKey)
    expect(stderr).not.toContain(readFileSync(secretKeyFile, 'utf8').trim())
  },
)

test('an option wins over its environment variable; an address that is not this machine alone warns of plain HTTP, and of links without --public-url', async () => {
  const site = await siteForTest()
  const env = {
    ROOMKEEPER_PORT: String(await takenPort()),
    ROOMKEEPER_HOST: '203.0.113.1',
    ROOMKEEPER_DATA_DIR: join(site.dataDir, 'unused'),
    ROOMKEEPER_DATABASE_URL: 'postgres://127.0.0.1:1/unused',
    ROOMKEEPER_LOG_LEVEL: 'info',
  }
  const options = ['--port', '0', '--host', widerHost, '--log-level', 'silent', ...site.flags]
  // An empty one switches back to SQLite, as an unset one would.
  if (engine === 'sqlite') options.push('--database-url', '')
  const server = await ready(site.launch(['serve', ...options], { env }))
  expect((await send(server.url, 'GET', '/readyz')).status).toBe(200)
  expect(existsSync(join(site.dataDir, 'unused'))).toBe(false)
  const links = `Links, QR codes and device addresses contain ${server.url}, which others may not be able to reach. Set --public-url to the public address of the server.`
  const [plain, ...others] = (await server.stop()).stderr.trimEnd().split('\n')
  expect(plain).toContain(plainWarning)
  expect(others, 'nothing else is written').toEqual([links])
})

test.runIf(engine === 'sqlite')(
  'HTTPS is built in, by option or variable, and the curl line that a terminal gets works there too',
  async () => {
    const site = await siteForTest()
    const { cert, key } = certificate(site)
    const options = ['serve', '--port', '0', ...site.flags, '--tls-cert', cert]
    const starter = terminalStarter()
    const server = site.launch(options, { env: { ROOMKEEPER_TLS_KEY: key }, starter })
    const [, url = ''] = await server.printed(
      /^Roomkeeper is ready at (https:\/\/127\.0\.0\.1:\d+)$/m,
      'stdout',
      startTimeoutMs,
    )
    const [, line = ''] = await server.printed(/^ *(curl .*)$/m)
    need('curl')
    const env = { ...process.env, NO_PROXY: '*', CURL_CA_BUNDLE: cert }
    expect(JSON.parse((await run('sh', ['-c', line], { env })).stdout)).toEqual({ regions: [] })
    expect(line).toContain(url)
    // A server with a certificate reads it again when its terminal is gone, and would run on.
    await server.stop()
  },
)

// This stops the server that the others look at, so it is the last.
test('a later start prints its address and no secret, and what the first one made is still there', async () => {
  const { key, org } = first
  const europe = { key, body: { name: 'Europe' } }
  const { id } = (await send(first.url, 'POST', `/v1/orgs/${org}/regions`, europe)).body
  expect((await first.stop()).code).toBe(0)

  const later = await firstSite.serve()
  const { body } = await send(later.url, 'GET', `/v1/orgs/${org}/regions`, { key })
  expect(body.regions).toEqual([{ id, name: 'Europe', locations: [] }])
  const { stdout, stderr } = await later.stop()
  const lines = [
    `Roomkeeper is ready at ${later.publicUrl}`,
    `API reference: ${later.publicUrl}/docs`,
    `Open the console: ${later.publicUrl}/`,
  ]
  expect(stdout.split('\n').slice(0, 3)).toEqual(lines)
  expect(stdout + stderr).not.toMatch(anyKey)
  expect(stdout + stderr).not.toContain(readFileSync(firstSite.secretKeyFile, 'utf8').trim())
  expect(await firstSite.sql('SELECT id FROM orgs')).toEqual([{ id: org }])
})
