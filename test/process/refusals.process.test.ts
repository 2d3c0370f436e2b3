// Settings with which the program refuses to start: one clear sentence each, a non-zero exit, never a stack.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { engine, send } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import {
  emptySiteForTest,
  expectRefusal,
  newSite,
  ready,
  type Server,
  type Site,
  siteForTest,
  takenPort,
} from '../support/program.ts'
import { runHere } from '../support/run-here.ts'

/** A port that nothing listens on. */
async function closedPort(): Promise<number> {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  await new Promise((resolve) => other.close(resolve))
  return port
}

/** A server that is only looked at, and a site where no start succeeds. */
let first: Server
let firstSite: Site
let unused: Site
beforeAll(async () => {
  firstSite = await newSite()
  unused = await newSite()
  first = await firstSite.serve()
})
afterAll(() => Promise.all([firstSite.close(), unused.close()]))

test('a taken port is refused, and a first start that failed so has not used up the first key; a server with short time limits says that they are for tests', async () => {
  const site = await siteForTest()
  const port = await takenPort()
  expectRefusal(await site.run('serve', '--port', String(port)), new RegExp(`^Port ${port} .*taken`))

  const env = { ROOMKEEPER_TEST_TIME_FACTOR: '0.5' }
  const server = await ready(site.launch(['serve', '--port', '0', ...site.flags], { env }))
  // This server also shows that short limits are logged.
  expect(server.stderr).toMatch(/"level":"warn",.*"timeFactor":"0.5","msg":"time limits shortened for a test/)
  expect(server.key).toMatch(/^rk_[0-9A-Za-z]{40}$/)
  const { status } = await send(server.url, 'GET', `/v1/orgs/${server.org}/regions`, { key: server.key })
  expect(status).toBe(200)
})

test('time limits that are longer than usual are refused', async () => {
  const start = (ROOMKEEPER_TEST_TIME_FACTOR: string) =>
    unused.launch(['serve', '--port', '0', ...unused.flags], { env: { ROOMKEEPER_TEST_TIME_FACTOR } })
  // All are refused by the same comparison.
  for (const factor of isFullForm ? ['2', '0', 'quick'] : ['2']) {
    expectRefusal(await start(factor).exit(), /^The factor of time limits must be greater than 0 and at most 1/)
  }
  expect(first.stderr).not.toMatch(/time limits/)
})

test('an unwritable data folder is refused', async () => {
  const file = join(unused.dataDir, 'file')
  writeFileSync(file, 'not a folder')
  const folder = join(file, 'data')
  expectRefusal(
    await runHere(['serve', '--port', '0', ...unused.flags, '--data-dir', folder]),
    new RegExp(`data folder ${folder}.*--data-dir`),
  )
})

test('times to keep sensor data that leave a gap, or are none, are refused, and nothing is made', async () => {
  const site = await emptySiteForTest()
  const refused: [string[], RegExp][] = [
    [['--sample-retention', '0'], /--sample-retention .* must be a whole number from 1 to 3650, not "0"/],
    [['--rollup-retention', 'ever'], /--rollup-retention .* must be a whole number from 1 to 3650, not "ever"/],
    [['--daily-retention', 'never'], /--daily-retention .* from 1 to 3650, or ever, not "never"/],
    [['--room-freshness', '1441'], /--room-freshness .* must be a whole number from 1 to 1440, not "1441"/],
    [['--rollup-retention', '29'], /--rollup-retention \(29 days\) must not be .* --sample-retention \(30 days\)/],
    [['--sample-retention', '731'], /--rollup-retention \(730 days\) must not be .* --sample-retention \(731 days\)/],
    [['--daily-retention', '729'], /--daily-retention \(729 days\) must not be .* --rollup-retention \(730 days\)/],
  ]
  for (const [options, sentence] of refused) {
    expectRefusal(await runHere(['serve', '--port', '0', ...site.flags, ...options]), sentence)
  }
  expect(readdirSync(site.dataDir)).toEqual([])
})

test('a database newer than the program is refused by the server and by commands, and is left as it was', async () => {
  const site = await siteForTest()
  expect((await site.run('migrate')).code).toBe(0)
  await site.sql(`INSERT INTO migrations (name, timestamp) VALUES ('999-future', '2099-01-01T00:00:00.000Z')`)
  expectRefusal(await site.run('serve', '--port', '0'), /newer Roomkeeper.*999-future/)
  expectRefusal(await site.run('org', 'create', 'Acme'), /newer Roomkeeper.*999-future/)
  expect(await site.sql('SELECT id FROM orgs')).toEqual([])
})

test('a second server on the same database is refused while the first one runs', async () => {
  // PostgreSQL can have several servers, if their public address is known.
  const sentence =
    engine === 'sqlite' ? /Another Roomkeeper server is running on this database/ : /^Other nodes serve this database/
  expectRefusal(await firstSite.run('serve', '--port', '0'), sentence)
  expect((await send(first.url, 'GET', '/readyz')).status).toBe(200)
})

test('a database without its own secret key is refused, and no other key is made for it', async () => {
  const site = await siteForTest()
  const { id: org } = await site.json('org', 'create', 'One')
  const { key } = await site.json('keys', 'create', '--org', org, '--name', 'First', '--scope', 'read')
  const right = readFileSync(site.secretKeyFile, 'utf8')

  writeFileSync(site.secretKeyFile, `${'0123456789abcdef'.repeat(4)}\n`)
  expectRefusal(await site.run('serve', '--port', '0'), /secret\.key is not the secret key/)
  rmSync(site.secretKeyFile)
  expectRefusal(await site.run('serve', '--port', '0'), /secret\.key is missing/)
  expect(existsSync(site.secretKeyFile)).toBe(false)

  writeFileSync(site.secretKeyFile, right)
  const later = await site.serveHere()
  const { status } = await send(later.url, 'GET', `/v1/orgs/${org}/regions`, { key })
  expect(status).toBe(200)
})

// These refusals come before any database is opened, so one engine is enough.
if (engine === 'sqlite') {
  test.each([
    ['an unknown option', ['--nonsense'], /unknown option.*--nonsense/i],
    ['a misspelt option', ['--prot', '1'], /unknown option.*--prot/i],
    ['a port that is no number', ['--port', 'http'], /--port .*"http"/],
    ['a port out of range', ['--port', '65536'], /--port .*"65536"/],
    ['an address of another machine', ['--host', '203.0.113.1'], /203\.0\.113\.1.*--host/],
    ['a public address that is none', ['--public-url', 'rooms'], /--public-url .*"rooms"/],
    [
      'a public address with a query',
      ['--public-url', 'https://rooms.example.org/base?x=1'],
      /--public-url .*example\.org\/base\?x=1/,
    ],
    ['a proxy that is no CIDR', ['--trust-proxy', '10.0.0.0/33'], /--trust-proxy .*"10\.0\.0\.0\/33"/],
    ['a target that is no host', ['--outbound-allow', 'https://idp'], /--outbound-allow .*"https:\/\/idp"/],
    ['an unknown log level', ['--log-level', 'loud'], /--log-level .*"loud"/],
    ['a certificate without its key', ['--tls-cert', 'cert.pem'], /--tls-key/],
    ['a key without its certificate', ['--tls-key', 'key.pem'], /--tls-cert/],
    ['a certificate that is not there', ['--tls-cert', 'no.pem', '--tls-key', 'no.pem'], /--tls-cert no\.pem/],
  ])('serve refuses %s', async (_, args, sentence) => {
    const ports = ['--port', '0', '--mqtt-port', '0']
    expectRefusal(await runHere(['serve', ...ports, ...unused.flags, ...args]), sentence)
  })

  test('serve refuses a certificate that is none', async () => {
    const scribble = join(unused.dataDir, 'scribble.pem')
    writeFileSync(scribble, 'scribble')
    expectRefusal(await unused.run('serve', '--port', '0', '--tls-cert', scribble, '--tls-key', scribble), /--tls-cert/)
  })

  test('serve refuses a wrong value in an environment variable', async () => {
    const program = unused.launch(['serve', ...unused.flags], { env: { ROOMKEEPER_PORT: 'http' } })
    expectRefusal(await program.exit(), /--port \(or ROOMKEEPER_PORT\) .*"http"/i)
  })

  test('an unknown command is refused', async () => {
    expectRefusal(await runHere(['sevre']), /unknown command.*sevre/i)
  })
} else {
  const serveOn = (databaseUrl: string) =>
    runHere(['serve', '--port', '0', '--mqtt-port', '0', '--data-dir', unused.dataDir, '--database-url', databaseUrl])

  test.each(['rooms', 'mysql://127.0.0.1/rooms', 'postgres://['])(
    'serve refuses %s as the address of a database',
    async (address) => {
      expectRefusal(await serveOn(address), /--database-url/)
    },
  )

  test('serve refuses a PostgreSQL that cannot be reached, and does not repeat the password', async () => {
    const address = `postgres://keeper:sesame@127.0.0.1:${await closedPort()}/rooms`
    const ended = await serveOn(address)
    expectRefusal(ended, /Cannot reach PostgreSQL: .*--database-url/)
    expect(ended.stderr).not.toContain('sesame')
  })

  test.each([
    ['an unknown database', (url: URL) => Object.assign(url, { pathname: '/nowhere' })],
    ['an unknown user', (url: URL) => Object.assign(url, { username: 'somebody_else' })],
  ])('serve refuses %s of a PostgreSQL that can be reached', async (_, spoil) => {
    const { href } = spoil(new URL(unused.databaseUrl ?? ''))
    expectRefusal(await serveOn(href), /PostgreSQL: .*--database-url/)
  })
}

test('an old Node is told what the program needs', async () => {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })
    Object.defineProperty(process, 'version', { value: 'v18.20.8' })`
  const node = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`]
  expectRefusal(await unused.launch(['serve', ...unused.flags], { node }).exit(), /needs Node 24 or newer.*v18\.20\.8/)
})
