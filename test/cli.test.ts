// The command line: the real program beside a running server, on the same database.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { program } from '../src/cli/program.ts'
import { engine, startHarness } from './harness.ts'
import { call, type Ended, expectRefusal, newSite, type Server, Site, siteForTest } from './program.ts'

let site: Site
let server: Server
beforeAll(async () => {
  site = await newSite()
  server = await site.serve()
})
afterAll(() => site.close())

const at = (path: string, org = server.org) => `/v1/orgs/${org}${path}`
const statusWith = async (key: string, path = at('/regions')) => (await call(server.url, 'GET', path, { key })).status

function expectDone({ code, stderr }: Ended): void {
  expect(stderr).toBe('')
  expect(code).toBe(0)
}

describe('org', () => {
  test('create prints what to do next, and as JSON at least the id and the name', async () => {
    const text = await site.run('org', 'create', 'Plain')
    expectDone(text)
    const [, id = ''] = /^Organisation (\S+) created\.$/m.exec(text.stdout) ?? []
    expect(text.stdout).toContain(`keys create --org ${id}`)

    const json = await site.json('org', 'create', '  Møterom 会議室 🏢  ')
    expect(json).toMatchObject({ id: expect.stringMatching(/^[\w-]{7}$/), name: 'Møterom 会議室 🏢' })
    const { orgs } = await site.json('org', 'list')
    expect(orgs).toContainEqual(expect.objectContaining({ id, name: 'Plain' }))
    expect(orgs).toContainEqual(expect.objectContaining(json))
    const list = await site.launch(['org', 'list'], { env: site.variables }).exit()
    expectDone(list)
    expect(list.stdout.split('\n').filter((line) => line.startsWith(id) && line.endsWith('Plain'))).toHaveLength(1)
  })

  test('create refuses a name without characters, and makes nothing', async () => {
    const before = await site.sql('SELECT id FROM orgs ORDER BY id')
    expectRefusal(await site.run('org', 'create', '   '), /name of an organisation must have 1 to 100 characters/)
    expect(await site.sql('SELECT id FROM orgs ORDER BY id')).toEqual(before)
  })

  test('a new organisation has its own keys, which see nothing of the first one, and the last that manages stays', async () => {
    const { id: org } = await site.json('org', 'create', 'Other')
    const only = await site.json('keys', 'create', '--org', org, '--name', 'Only', '--scope', 'read', '--manage')
    expect(await statusWith(only.key, at('/regions', org))).toBe(200)
    expect(await statusWith(only.key)).toBe(404)

    expectRefusal(await site.run('keys', 'revoke', '99', '--org', org), /no key 99/)
    expectRefusal(await site.run('keys', 'revoke', only.id, '--org', org), /last key that manages/)
    expect(await statusWith(only.key, at('/regions', org))).toBe(200)
  })
})

describe('keys', () => {
  const create = (...more: string[]) => ['keys', 'create', '--org', server.org, '--name', 'Test', ...more]

  test('create prints the key, once, and it does what its scopes say', async () => {
    const text = await site.run(...create('--scope', 'read'))
    expectDone(text)
    const [reader = ''] = /rk_\w+/.exec(text.stdout) ?? []
    const writer = await site.json(...create('--scope', 'write', '--manage'))
    expect(writer).toMatchObject({ id: expect.any(String), key: expect.stringMatching(/^rk_\w+$/), manage: true })

    const write = async (key: string) =>
      (await call(server.url, 'POST', at('/regions'), { key, body: { name: 'Europe' } })).status
    expect(await statusWith(reader)).toBe(200)
    expect(await write(reader)).toBe(403)
    expect(await statusWith(reader, at('/keys'))).toBe(403)
    expect(await statusWith(writer.key)).toBe(403)
    expect(await write(writer.key)).toBe(200)
    expect(await statusWith(writer.key, at('/keys'))).toBe(200)

    const list = await site.run('keys', 'list', '--org', server.org)
    expectDone(list)
    const { keys } = await site.json('keys', 'list', '--org', server.org)
    expect(keys).toContainEqual(expect.objectContaining({ id: writer.id, name: 'Test', scopes: ['write'] }))
    for (const key of [reader, writer.key, server.key]) {
      expect(list.stdout + JSON.stringify(keys)).toContain(key.slice(0, 9))
      expect(list.stdout + JSON.stringify(keys)).not.toContain(key.slice(0, 10))
    }
  })

  test('a running server honours a new key and a revoked key within a second, and both stand in the audit log', async () => {
    const { id, key } = await site.json(...create('--scope', 'read'))
    const created = performance.now()
    while ((await statusWith(key)) !== 200 && performance.now() - created < 5_000) await pause(50)
    expect(performance.now() - created).toBeLessThan(1_100)

    // The key is in use all the time, so that the server remembers it.
    let revoked = Number.POSITIVE_INFINITY
    const revoking = site.run('keys', 'revoke', id, '--org', server.org).then((ended) => {
      revoked = performance.now()
      return ended
    })
    while ((await statusWith(key)) !== 401 && performance.now() - revoked < 5_000) await pause(50)
    const refused = performance.now()
    expectDone(await revoking)
    expect(refused - revoked).toBeLessThan(1_100)
    expect(await statusWith(server.key)).toBe(200)

    const path = at('/audit/logs?from=2000-01-01&to=2999-01-01&pageSize=2')
    const { text, body } = await call(server.url, 'GET', path, { key: server.key })
    expect(body.logs).toMatchObject([
      { type: 'API_KEY_REVOKED', actor: { type: 'CLI' }, target: { type: 'key', id, name: 'Test' } },
      { type: 'API_KEY_CREATED', actor: { type: 'CLI' }, target: { type: 'key', id, name: 'Test' } },
    ])
    expect(text).not.toContain(key)
  })

  test('create takes an expiry as a date or as a duration', async () => {
    const dated = await site.json(...create('--scope', 'read', '--expires', '2099-01-31'))
    expect(dated.expiresAt).toBe('2099-01-31T00:00:00.000Z')
    const lasting = await site.json(...create('--scope', 'read', '--expires', '12h'))
    const hours = (Date.parse(lasting.expiresAt) - Date.parse(lasting.createdAt)) / 3_600_000
    expect(hours).toBeCloseTo(12, 2)
  })

  test.each([
    ['an expiry that is no time', ['--scope', 'read', '--expires', 'soon'], /--expires must be a date/],
    ['an expiry in the past', ['--scope', 'read', '--expires', '2020-01-31'], /--expires must be a date/],
    ['an unknown scope', ['--scope', 'admin'], /--scope.*admin.*read.*write/],
    ['a name with a control character [contract 1.10]', ['--scope', 'read', '--name', 'a\u0007b'], /control character/],
  ])('create refuses %s, and makes no key', async (_, args, sentence) => {
    const before = await site.sql('SELECT org, id FROM api_keys ORDER BY org, id')
    const ended = await site.run(...create(...args))
    expect(await site.sql('SELECT org, id FROM api_keys ORDER BY org, id')).toEqual(before)
    expectRefusal(ended, sentence)
  })

  test('an organisation that does not exist is refused by name', async () => {
    const commands = [
      ['keys', 'create', '--name', 'Test', '--scope', 'read'],
      ['audit', 'verify'],
    ]
    for (const ended of await Promise.all(commands.map((command) => site.run(...command, '--org', 'NoSuch1')))) {
      expectRefusal(ended, /There is no organisation NoSuch1/)
    }
  })
})

describe('audit', () => {
  test('verify finds nothing wrong beside a running server, and head prints what verify --expect takes', async () => {
    const head = await site.run('audit', 'head', '--org', server.org)
    expectDone(head)
    expect(head.stdout).toMatch(new RegExp(`^${server.org}:\\d+:[0-9a-f]{64}\\n$`))
    await call(server.url, 'POST', at('/regions'), { key: server.key, body: { name: 'Later' } })
    const verified = await site.run('audit', 'verify', '--expect', head.stdout.trim())
    expectDone(verified)
    expect(verified.stdout).toMatch(new RegExp(`^${server.org}: \\d+ entries`, 'm'))
    const { heads } = await site.json('audit', 'head')
    expect(heads).toHaveLength((await site.sql('SELECT id FROM orgs ORDER BY id')).length)
  })

  test('verify refuses to expect what no head can be, and fails for a head of elsewhere', async () => {
    expectRefusal(await site.run('audit', 'verify', '--expect', 'nonsense'), /nonsense.*audit head/)
    const foreign = `NoSuch1:3:${'0'.repeat(64)}`
    const { code, stdout } = await site.run('audit', 'verify', '--expect', foreign)
    expect(code).toBeGreaterThan(0)
    expect(stdout).toContain(foreign)
  })

  /** A server of its own with organisations of five entries each, and a way to the database behind its back. */
  async function tamperedSite() {
    const house = await startHarness()
    onTestFinished(() => house.close())
    const behind = new Site(house.place, async () => {})
    onTestFinished(() => behind.close())
    const newLog = async () => {
      const org = await house.newOrg()
      for (const name of ['Europe', 'Asia', 'Africa']) await org.call('POST', '/regions', { body: { name } })
      return org
    }
    return { behind, newLog }
  }

  const lineOf = (org: string, { stdout }: Ended) => stdout.split('\n').find((line) => line.startsWith(`${org}:`))

  test('verify exits non-zero and names the entry that was edited, removed or reordered in the database', async () => {
    const { behind, newLog } = await tamperedSite()
    const [edited, removed, reordered, last, sound] = [
      await newLog(),
      await newLog(),
      await newLog(),
      await newLog(),
      await newLog(),
    ]
    const seqIs = ({ org }: typeof sound, seq: number) => `WHERE org = ${org.key} AND seq = ${seq}`
    await behind.sql(`UPDATE audit_log SET actor_name = 'Somebody else' ${seqIs(edited, 3)}`)
    await behind.sql(`DELETE FROM audit_log ${seqIs(removed, 4)}`)
    await behind.sql(`UPDATE audit_log SET seq = 1000 ${seqIs(reordered, 2)}`)
    await behind.sql(`UPDATE audit_log SET seq = 2 ${seqIs(reordered, 3)}`)
    await behind.sql(`UPDATE audit_log SET seq = 3 ${seqIs(reordered, 1000)}`)
    await behind.sql(`DELETE FROM audit_log ${seqIs(last, 5)}`)

    const verdict = await behind.run('audit', 'verify')
    expect(verdict.code).toBeGreaterThan(0)
    expect(verdict.stderr).toBe('The audit log is not what it was.\n')
    expect(lineOf(edited.id, verdict)).toMatch(/BROKEN.*\bentry 3\b/)
    expect(lineOf(removed.id, verdict)).toMatch(/BROKEN.*\bentry 4\b/)
    expect(lineOf(reordered.id, verdict)).toMatch(/BROKEN.*\bentry 2\b/)
    expect(lineOf(last.id, verdict)).toMatch(/BROKEN.*\bentr(y|ies) 5\b/)
    expect(lineOf(sound.id, verdict)).toBe(`${sound.id}: 5 entries, all in place.`)

    const json = await behind.launch(['audit', 'verify', '--json', '--org', edited.id, ...behind.flags]).exit()
    expect(json.code).toBeGreaterThan(0)
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, organisations: [{ org: edited.id }] })
  })

  test('verify finds a cut tail only when it is told the head to expect', async () => {
    const { behind, newLog } = await tamperedSite()
    const { id, org } = await newLog()
    const head = (await behind.json('audit', 'head', '--org', id)).heads[0]
    await behind.sql(`DELETE FROM audit_log WHERE org = ${org.key} AND seq > 3`)
    const kept = (column: string) => `(SELECT ${column} FROM audit_log WHERE org = ${org.key} AND seq = 3)`
    await behind.sql(
      `UPDATE audit_heads SET count = 3, mac = ${kept('mac')}, timestamp = ${kept('timestamp')} WHERE org = ${org.key}`,
    )
    const plain = await behind.run('audit', 'verify')
    expectDone(plain)
    expect(lineOf(id, plain)).toBe(`${id}: 3 entries, all in place.`)
    const told = await behind.run('audit', 'verify', '--expect', head)
    expect(told.code).toBeGreaterThan(0)
    expect(lineOf(id, told)).toMatch(/BROKEN.*tail was cut/)
    expect(told.stdout).toContain(head)
  })
})

test('migrate makes a new database, says what it did, and does nothing to one that is up to date', async () => {
  const fresh = await siteForTest()
  const { migrated } = await fresh.json('migrate')
  expect(migrated.length).toBeGreaterThan(0)
  expect(await fresh.json('migrate')).toEqual({ migrated: [] })
  expect(await fresh.sql('SELECT id FROM orgs ORDER BY id')).toEqual([])
  const beside = await site.run('migrate')
  expectDone(beside)
  expect(beside.stdout).toBe('The database is up to date.\n')
})

test('an organisation made before the first start is kept, and the start makes no other one and shows no key', async () => {
  const fresh = await siteForTest()
  const { id } = await fresh.json('org', 'create', 'Acme')
  const started = await fresh.serve()
  expect(started.key).toBe('')
  expect(await fresh.sql('SELECT id, name FROM orgs')).toEqual([{ id, name: 'Acme' }])
})

if (engine === 'sqlite') {
  test('a command that only looks does not make a database where none is', async () => {
    const fresh = await siteForTest()
    expectRefusal(await fresh.run('org', 'list'), /There is no database in .*--data-dir/)
    expect(readdirSync(fresh.dataDir)).toEqual([])
  })
}

test('openapi prints the committed document', async () => {
  const committed = readFileSync(join(import.meta.dirname, '../openapi.json'), 'utf8')
  const printed = await site.launch(['openapi']).exit()
  expectDone(printed)
  expect(printed.stdout).toBe(committed)
})

describe('--help', () => {
  const place = ['--data-dir', '--database-url', '--secret-key-file']
  const variableOf = (option: string) => `ROOMKEEPER_${option.slice(2).replaceAll('-', '_').toUpperCase()}`
  /** As one line, whatever the width of the terminal. */
  const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')
  const help = async (...command: string[]) => {
    const ended = await site.launch([...command, '--help']).exit()
    expectDone(ended)
    return oneLine(ended.stdout)
  }

  test('of the program names every command', async () => {
    const text = await help()
    for (const name of ['serve', 'org', 'keys', 'audit', 'migrate', 'openapi']) expect(text).toContain(` ${name} `)
  })

  test('of serve explains every option with its environment variable and its default', async () => {
    const text = await help('serve')
    const options = ['--port', '--host', '--mqtt-port', '--public-url', '--trust-proxy', '--tls-cert', '--tls-key']
    for (const option of [...options, ...place]) {
      expect(text).toMatch(new RegExp(` ${option} <[^>]+> [^<]*env: ${variableOf(option)}\\)`))
    }
    for (const byDefault of ['8080', '"127.0.0.1"', '"./data"']) expect(text).toContain(`(default: ${byDefault}, env:`)
  })

  test.each([
    ['org create', []],
    ['org list', []],
    ['keys create', ['--org', '--name', '--scope', '--manage', '--expires']],
    ['keys list', ['--org']],
    ['keys revoke', ['--org']],
    ['audit verify', ['--org', '--expect']],
    ['audit head', ['--org']],
    ['migrate', []],
  ])('of %s explains its options, and those of the database with their environment variables', (path, own) => {
    // Only the text is looked at, so this asks the command instead of starting it.
    const silent = { version: '', say() {}, complain() {}, untilStopped: async () => '', user: () => '', fail }
    const text = oneLine(commandAt(program(silent), path).helpInformation())
    expect(text).toContain(`Usage: roomkeeper ${path} `)
    for (const option of [...own, '--json']) expect(text).toContain(` ${option} `)
    for (const option of place)
      expect(text).toMatch(new RegExp(` ${option} <[^>]+> [^<]*env: ${variableOf(option)}\\)`))
  })

  const fail = (): never => {
    throw new Error('a help text ends nothing')
  }
  const commandAt = (root: Command, path: string) =>
    path.split(' ').reduce((command, name) => {
      const next = command.commands.find((c) => c.name() === name)
      if (!next) throw new Error(`there is no command ${path}`)
      return next
    }, root)
})
