// The command line: the real program beside a running server, on the same database.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engine, send } from '../support/harness.ts'
import {
  emptySiteForTest,
  expectDone,
  expectRefusal,
  newSite,
  printedCommand,
  type ServerHere,
  type Site,
  siteForTest,
  until,
  untilPrinted,
} from '../support/program.ts'

let site: Site
let server: ServerHere
beforeAll(async () => {
  site = await newSite()
  server = await site.serveHere()
})
afterAll(() => site.close())

const at = (path: string, org = server.org) => `/v1/orgs/${org}${path}`
const statusWith = async (key: string, path = at('/regions')) => (await send(server.url, 'GET', path, { key })).status

describe('org', () => {
  test('create prints what to do next, and as JSON at least the id and the name', async () => {
    const text = await site.run('org', 'create', 'Plain')
    expectDone(text)
    const [, id = ''] = /^Created organisation (\S+)\.$/m.exec(text.stdout) ?? []
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

  test('create takes a time zone, otherwise UTC, and list shows it', async () => {
    const oslo = await site.json('org', 'create', 'Oslo', '--timezone', 'Europe/Oslo')
    const plain = await site.json('org', 'create', 'Nowhere')
    expect([oslo.timezone, plain.timezone]).toEqual(['Europe/Oslo', 'UTC'])
    const { orgs } = await site.json('org', 'list')
    expect(orgs).toContainEqual(expect.objectContaining(oslo))
    expect(orgs).toContainEqual(expect.objectContaining(plain))
    expect((await site.run('org', 'list')).stdout).toMatch(new RegExp(`^${oslo.id} .* Europe/Oslo  Oslo$`, 'm'))
  })

  test('timezone changes that of one organisation, beside a running server, and stands in its audit log', async () => {
    const zones = () => site.sql(`SELECT id, timezone FROM orgs WHERE id <> '${server.org}' ORDER BY id`)
    const others = await zones()
    for (const zone of ['Asia/Kathmandu', 'America/Havana']) {
      const changed = await site.run('org', 'timezone', server.org, zone)
      expectDone(changed)
      expect(changed.stdout).toContain(`The time zone of organisation ${server.org} is now ${zone}.`)
    }
    const back = await site.json('org', 'timezone', server.org, 'UTC')
    expect(back).toEqual({ id: server.org, timezone: 'UTC' })
    expect(await site.sql(`SELECT timezone FROM orgs WHERE id = '${server.org}'`)).toEqual([{ timezone: 'UTC' }])
    expect(await zones()).toEqual(others)

    const path = at('/audit/logs?from=2000-01-01&to=2999-01-01&pageSize=3')
    const { logs } = (await send(server.url, 'GET', path, { key: server.key })).body
    const entry = (before: string, after: string) => ({
      category: 'ORG',
      type: 'ORG_UPDATED',
      actor: { type: 'CLI' },
      target: { type: 'organisation', id: server.org, name: 'My organisation' },
      details: { before: { timezone: before }, after: { timezone: after } },
    })
    expect(logs).toMatchObject([
      entry('America/Havana', 'UTC'),
      entry('Asia/Kathmandu', 'America/Havana'),
      entry('UTC', 'Asia/Kathmandu'),
    ])
  })

  test('a time zone that there is not is refused with an example, and nothing changes', async () => {
    const all = async () => [
      await site.sql('SELECT id, timezone FROM orgs ORDER BY id'),
      await site.sql('SELECT org, count FROM audit_heads ORDER BY org'),
    ]
    const before = await all()
    const sentence =
      /^The time zone of an organisation must be a time zone such as Europe\/Oslo, .* or \+05:45, not "Mars\/\w+"\.$/m
    expectRefusal(await site.run('org', 'create', 'Martians', '--timezone', 'Mars/Olympus'), sentence)
    expectRefusal(await site.run('org', 'timezone', server.org, 'Mars/Olympus'), sentence)
    expectRefusal(await site.run('org', 'timezone', server.org, '+05:17'), /not "\+05:17"\.$/m)
    expect(await all()).toEqual(before)
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
      (await send(server.url, 'POST', at('/regions'), { key, body: { name: 'Europe' } })).status
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

  test('create limits a key to regions and to operating, and list shows both', async () => {
    const region = (await send(server.url, 'POST', at('/regions'), { key: server.key, body: { name: 'Asia' } })).body.id
    const created = await site.json(...create('--scope', 'read', '--scope', 'operate', '--region', String(region)))
    expect(created).toMatchObject({ scopes: ['read', 'operate'], regionIds: [region] })
    const me = async () => (await send(server.url, 'GET', at('/me'), { key: created.key })).body
    await until('the server knows the key', async () => (await statusWith(created.key)) === 200)
    expect(await me()).toMatchObject({ scopes: ['read', 'operate'], allRegions: false, regionIds: [region] })
    const { stdout } = await site.run('keys', 'list', '--org', server.org)
    expect(stdout).toMatch(
      new RegExp(`^${created.id}  rk_\\w{6}…  read operate  regions ${region}  expires never`, 'm'),
    )
  })

  test('a running server honours a new key and a revoked key within a second, and both stand in the audit log', async () => {
    const { id, key } = await site.json(...create('--scope', 'read'))
    await pause(1000)
    expect(await statusWith(key), 'a request a second later').toBe(200)

    // The key is in use all the time, so the server remembers it.
    let isSecondOver = false
    const revoke = async () => {
      expectDone(await site.run('keys', 'revoke', id, '--org', server.org))
      await pause(1000)
    }
    const revoking = revoke().finally(() => {
      isSecondOver = true
    })
    while (!isSecondOver) {
      await statusWith(key)
      await pause(50)
    }
    await revoking
    expect(await statusWith(key), 'a request a second later').toBe(401)
    expect(await statusWith(server.key)).toBe(200)

    const path = at('/audit/logs?from=2000-01-01&to=2999-01-01&pageSize=2')
    const { text, body } = await send(server.url, 'GET', path, { key: server.key })
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
    ['a region that does not exist', ['--scope', 'read', '--region', '777'], /region 777, which does not exist/],
    ['a region that is no id', ['--scope', 'read', '--region', 'Asia'], /--region must be the id of a region/],
    ['a region together with manage', ['--scope', 'read', '--region', '1', '--manage'], /together with manage/],
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
    ].map((command) => [...command, '--org', 'NoSuch1'])
    commands.push(['org', 'timezone', 'NoSuch1', 'UTC'])
    for (const ended of await Promise.all(commands.map((command) => site.run(...command)))) {
      expectRefusal(ended, /There is no organisation NoSuch1/)
    }
  })
})

describe('users', () => {
  test('list shows each person with role, regions, state and last use, and says if there is none', async () => {
    const fresh = await siteForTest()
    const { id: org } = await fresh.json('org', 'create', 'People')
    const none = await fresh.run('users', 'list')
    expectDone(none)
    expect(none.stdout).toBe('This organisation has no users yet. Invite one with "users invite EMAIL --role ROLE".\n')
    await fresh.json('users', 'invite', 'ada@example.org', '--role', 'owner', '--name', 'Ada Lovelace')
    await fresh.json('users', 'invite', 'bob@example.org', '--role', 'operator')
    await fresh.json('users', 'invite', 'eve@example.org', '--role', 'viewer', '--all-regions')
    const { stdout } = await fresh.run('users', 'list', '--org', org)
    expect(stdout.trimEnd().split('\n')).toEqual([
      '1  ada@example.org  owner  all regions  INVITED  signs in with link only  last seen never  Ada Lovelace',
      '2  bob@example.org  operator  regions none  INVITED  signs in with link only  last seen never',
      '3  eve@example.org  viewer  all regions  INVITED  signs in with link only  last seen never',
    ])
    const { users } = await fresh.json('users', 'list')
    expect(users[0]).toMatchObject({ id: '1', email: 'ada@example.org', role: 'owner', name: 'Ada Lovelace' })
    expectRefusal(await fresh.run('users', 'list', '--org', 'NoSuch1'), /There is no organisation NoSuch1/)
  })

  test('list prints no control character that a name has, and as JSON the same name', async () => {
    const fresh = await siteForTest()
    await fresh.json('org', 'create', 'People')
    await fresh.json('users', 'invite', 'ada@example.org', '--role', 'viewer', '--name', 'Ada')
    const name = '\u001b[2JAda\u009b31m'
    await fresh.sql(`UPDATE users SET name = '${name}'`)
    const { stdout } = await fresh.run('users', 'list')
    expect(stdout).toMatch(/ {2}\?\[2JAda\?31m\n$/)
    const json = await fresh.run('users', 'list', '--json')
    expect(json.stdout.trimEnd()).not.toMatch(/\p{Cc}/u)
    expect(JSON.parse(json.stdout).users[0].name).toBe(name)
  })
})

test('migrate makes a new database, says what it did, and does nothing to one that is up to date', async () => {
  const fresh = await emptySiteForTest()
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
  const started = fresh.launchHere([
    'serve',
    '--port',
    '0',
    '--mqtt-port',
    '0',
    '--log-level',
    'silent',
    ...fresh.flags,
  ])
  await untilPrinted(started, new RegExp(`^Organisation ${id} has no API key\\. Create one:$`, 'm'))
  await untilPrinted(started, printedCommand(`keys create --org ${id}`))
  expect(started.stdout).not.toMatch(/rk_/)
  expect(await fresh.sql('SELECT id, name FROM orgs')).toEqual([{ id, name: 'Acme' }])
})

test('a command that only looks makes no database', async () => {
  const fresh = await emptySiteForTest()
  const where =
    engine === 'sqlite' ? /There is no database in .*--data-dir/ : /There is no Roomkeeper in that PostgreSQL/
  expectRefusal(await fresh.run('org', 'list'), where)
  if (engine === 'sqlite') expect(readdirSync(fresh.dataDir)).toEqual([])
  else await expect(fresh.sql('SELECT 1 FROM orgs')).rejects.toThrow(/does not exist/)
})

test.runIf(engine === 'sqlite')('openapi prints the committed document', async () => {
  const committed = readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8')
  const printed = await site.launch(['openapi']).exit()
  expectDone(printed)
  expect(printed.stdout).toBe(committed)
})
