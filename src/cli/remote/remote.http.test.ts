// The commands over HTTP against a real service: contexts, output, files, waiting, events, and the examples of docs/command-line.md.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandsIn, guideBlocks } from '../../../test/support/guide.ts'
import { type Harness, startHarness, type TestOrg } from '../../../test/support/harness.ts'
import { until } from '../../../test/support/program.ts'
import { runRemoteHere, type Surroundings, startRemoteHere } from '../../../test/support/run-here.ts'

let harness: Harness
let org: TestOrg
const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-cli-'))
const configFolder = join(folder, 'config')
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
})
afterAll(async () => {
  await harness.close()
  rmSync(folder, { recursive: true })
})

const variables = (key = org.key) => ({
  ROOMKEEPER_URL: harness.url,
  ROOMKEEPER_ORG: org.id,
  ROOMKEEPER_KEY: key,
})
const run = (args: readonly string[], surroundings: Surroundings = {}) =>
  runRemoteHere(args, { variables: variables(), ...surroundings })
const api = (...args: string[]) => run(['api', ...args])
const printed = async (...args: string[]) => {
  const ended = await api(...args)
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  return ended.stdout
}

describe('context', () => {
  const context = (args: readonly string[], surroundings: Surroundings = {}) =>
    runRemoteHere(['context', ...args], { ...surroundings, terminal: { configFolder, ...surroundings.terminal } })
  const place = () => ['--url', `${harness.url}/`, '--org', org.id]

  test('add tries the key, says what it may do, and keeps it for the user only; no output has the whole key', async () => {
    const reader = await org.newKey({ scopes: ['read'] })
    const added = await context(['add', 'reader', ...place()], { input: `${reader}\n` })
    expect(added).toMatchObject({ code: 0, stderr: '' })
    expect(added.stdout).toMatch(
      /^Added reader: the key .+ may read in all regions of .+\.\nIt is the current context\.\n$/,
    )
    const asked: unknown[] = []
    const ask = async (...question: unknown[]) => {
      asked.push(question)
      return org.key
    }
    const second = await context(['add', 'admin', ...place(), '--no-use'], { terminal: { canAsk: true, ask } })
    expect(second.stdout).toContain('may read, write, manage in all regions')
    expect(asked).toEqual([['API key: ', { isSecret: true }]])
    const file = join(configFolder, 'roomkeeper/contexts.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8')).contexts.admin).toEqual({
      baseUrl: harness.url,
      org: org.id,
      key: org.key,
    })
    const list = await context(['list'])
    expect(list.stdout).toMatch(/^\* {2}reader .*\n {3}admin /m)
    const used = await context(['use', 'admin'])
    const shown = await context(['show'])
    expect(shown.stdout).toContain(`key           ${org.key.slice(0, 9)}…`)
    const removed = await context(['remove', 'admin'])
    for (const { stdout } of [added, second, list, used, shown, removed]) expect(stdout).not.toMatch(/rk_\w{10}/)
    expect((await context(['show'])).stderr).toMatch(/^No server is known/)
    expect((await context(['show', 'reader'])).code).toBe(0)
  })

  test('add refuses a wrong key, and keeps nothing of it', async () => {
    const before = readdirSync(configFolder, { recursive: true })
    for (const input of ['', 'rk_wrong\n']) {
      const refused = await context(['add', 'wrong', ...place()], { input })
      expect(refused).toMatchObject({ code: 1, stdout: '' })
      expect(refused.stderr).not.toBe('')
    }
    expect((await context(['show', 'wrong'])).stderr).toMatch(/^No such context: wrong/)
    expect(readdirSync(configFolder, { recursive: true })).toEqual(before)
  })
})

describe('a body', () => {
  test('comes from options, from a file, and from standard input; options override the keys of a file', async () => {
    const file = join(folder, 'region.json')
    writeFileSync(file, '\ufeff{"name":"From a file"}')
    expect(await printed('regions', 'create', '--file', file)).toMatch(/^name +From a file$/m)
    expect(await printed('regions', 'create', '--file', file, '--name', 'Option')).toMatch(/^name +Option$/m)
    const piped = await run(['api', 'regions', 'create', '--file', '-'], { input: '{"name":"Piped ø"}' })
    expect(piped.stdout).toMatch(/^name +Piped ø$/m)
  })

  test.each([
    [['regions', 'create', '--file', '/nowhere.json'], 'Cannot read /nowhere.json: no such file'],
    [['regions', 'create', '--file', '/'], 'Cannot read /: it is a folder. Name a file.'],
    [['regions', 'create', '--file', '/dev/zero'], '/dev/zero is too large for the body of a request.'],
    [['regions', 'create', '--file', '-'], 'Standard input is not JSON: '],
    [
      ['rooms', 'create', '--capacity', 'many'],
      "Option '--capacity <number>' argument 'many' is invalid. The value must be a number, or null.",
    ],
    [['regions', 'create'], 'Invalid request: name is required.'],
    [
      ['regions', 'create', '--nam', 'x'],
      "Unknown option '--nam' (Did you mean --name?). Use --help to see all options.",
    ],
    [['regions', 'paint'], "Unknown command 'paint'"],
    [['regions', 'get'], "Missing required argument 'id'"],
    [['regions', 'get', '4711'], 'Requested resource not found: '],
  ])('%j is refused with a sentence, and exit code 1', async (args, message) => {
    const ended = await api(...args)
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toContain(message)
    expect(ended.stderr.trim().split('\n')).toHaveLength(1)
  })

  test('a secret can come from a variable', async () => {
    const create = ['api', 'channels', 'create', '--name', 'Pager', '--kind', 'pagerduty', '--routing-key', 'env:PAGER']
    expect(await run(create.with(-1, 'not a key'))).toMatchObject({ code: 1, stdout: '' })
    const missing = await run(create)
    expect(missing).toMatchObject({ code: 1, stderr: 'The variable PAGER is not set. Set it in the environment.\n' })
    const routingKey = '0123456789abcdef0123456789abcdef'
    const made = await run(create, { variables: { ...variables(), PAGER: routingKey } })
    expect(made).toMatchObject({ code: 0, stderr: '' })
  })
})

test('a key of another organisation is an error that says what to check', async () => {
  const ended = await run(['api', 'regions', 'list'], { variables: { ...variables(), ROOMKEEPER_ORG: 'nowhere' } })
  expect(ended).toMatchObject({
    code: 1,
    stderr:
      'Requested resource not found: the key does not belong to this organisation. Check --org, ROOMKEEPER_ORG or the context.\n',
  })
})

describe('output', () => {
  const audit = ['audit-logs', 'list', '--from', '2000-01-01', '--to', '2100-01-01']

  test('--all reads every page, into a table or one JSON document', async () => {
    for (const name of ['a', 'b', 'c']) await org.call('POST', '/rooms', { body: { name } })
    const all = (await org.call('GET', '/audit/logs?from=2000-01-01&to=2100-01-01&pageSize=1000')).body.logs
    expect(all.length).toBeGreaterThan(3)
    const one = JSON.parse(await printed(...audit, '--page-size', '2', '--json'))
    expect(one.logs).toHaveLength(2)
    expect(JSON.parse(await printed(...audit, '--page-size', '2', '--all', '--json'))).toEqual({
      logs: all,
    })
    const table = await printed(...audit, '--page-size', '2', '--all', '--columns', 'id')
    expect(
      table
        .trim()
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual(['ID', ...all.map(({ id }: { id: string }) => id)])
  })

  test('--csv goes to standard output or to a file, and is what the server sends', async () => {
    const [header] = (await printed(...audit, '--csv')).split('\r\n')
    expect(header).toContain('timestamp')
    const file = join(folder, 'audit.csv')
    expect(await printed(...audit, '--csv', '--output', file)).toBe('')
    expect(readFileSync(file, 'utf8').split('\r\n')[0]).toBe(header)
    expect(readdirSync(folder)).not.toContain('audit.csv.part')
    const refused = await api(...audit, '--csv', '--output', join(folder, 'nowhere', 'audit.csv'))
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Cannot write') })
  })

  test('--etag prints what --if-match takes', async () => {
    const { body: region } = await org.call('POST', '/regions', { body: { name: 'Tagged' } })
    const etag = (await printed('regions', 'get', String(region.id), '--etag')).trim()
    const update = ['regions', 'update', String(region.id), '--name', 'New', '--if-match', etag]
    expect(await printed(...update)).toMatch(/^name +New$/m)
    expect(await api(...update)).toMatchObject({ code: 1, stdout: '' })
  })

  test('a terminal gets the columns that fit, and indented JSON', async () => {
    const { body: room } = await org.call('POST', '/rooms', { body: { name: 'Bergen' } })
    const narrow = await run(['api', 'rooms', 'list'], { terminal: { isInteractive: true, columns: 30 } })
    expect(narrow.stderr).toMatch(/^No room for .+\. Choose with --columns, or use --json\.\n$/)
    expect(Math.max(...narrow.stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(30)
    const get = ['api', 'rooms', 'get', String(room.id), '--json']
    const { stdout } = await run(get, { terminal: { isInteractive: true } })
    expect(stdout).toMatch(/^\{\n {2}"id": /)
    expect(JSON.parse(stdout)).toMatchObject({ id: room.id })
  })
})

test('a person is asked before something is deleted, unless --yes; a script is not', async () => {
  const ids = []
  for (const name of ['Asked', 'Sure', 'Script'])
    ids.push(String((await org.call('POST', '/regions', { body: { name } })).body.id))
  const [asked = '', sure = '', script = ''] = ids
  const questions: string[] = []
  const answering = (answer: string): Surroundings => ({
    terminal: {
      canAsk: true,
      ask: async (question) => {
        questions.push(question)
        return answer
      },
    },
  })
  const no = await run(['api', 'regions', 'delete', asked], answering(''))
  expect(no).toMatchObject({ code: 1, stdout: '', stderr: 'Nothing was changed.\n' })
  expect(questions).toEqual([
    expect.stringMatching(
      new RegExp(`^Delete .+: id ${asked} of organisation ${org.id} at http.+ Continue\\? \\[y/N\\] $`),
    ),
  ])
  expect((await org.call('GET', `/regions/${asked}`)).status).toBe(200)
  expect(await run(['api', 'regions', 'delete', asked], answering('y'))).toMatchObject({ code: 0, stdout: 'Done.\n' })
  expect(await run(['api', 'regions', 'delete', sure, '--yes'], answering(''))).toMatchObject({ code: 0 })
  expect(await api('regions', 'delete', script)).toMatchObject({ code: 0 })
  expect(questions).toHaveLength(2)
  for (const id of ids) expect((await org.call('GET', `/regions/${id}`)).status).toBe(404)
})

test('events are printed as they happen, until the command is interrupted [contract 6.events]', async () => {
  const watching = startRemoteHere(['api', 'events', 'stream', '--types', 'structure', '--watch', '--json'], {
    variables: variables(),
  })
  await until('an event is printed', async () => {
    await org.call('POST', '/regions', { body: { name: 'Watched' } })
    return watching.stdout.includes('\n')
  })
  const ended = await watching.stop('SIGINT')
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  const [first = ''] = ended.stdout.split('\n')
  expect(JSON.parse(first)).toMatchObject({ type: 'structure', change: { type: 'REGION_CREATED' } })
})

test('a command waits when the server asks it to slow down, and says so', async () => {
  const slow = await startHarness({ rateLimit: 1 })
  try {
    const other = await slow.newOrg()
    const given = { ROOMKEEPER_URL: slow.url, ROOMKEEPER_ORG: other.id, ROOMKEEPER_KEY: other.key }
    const names = ['a', 'b', 'c', 'd']
    const all = await Promise.all(
      names.map((name) => runRemoteHere(['api', 'regions', 'create', '--name', name], { variables: given })),
    )
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(all.map(({ stderr }) => stderr).join('')).toMatch(/^The server asks to wait \d+ s \(too many requests\)\.$/m)
    const list = await runRemoteHere(['api', 'regions', 'list', '--json'], { variables: given })
    expect(JSON.parse(list.stdout).regions).toHaveLength(4)
  } finally {
    await slow.close()
  }
})

test('the examples of docs/command-line.md do what the page says', async () => {
  const place = await harness.newOrg('Example')
  const config = join(folder, 'docs')
  writeFileSync(join(folder, 'room.json'), '{"name":"Template","capacity":4}')
  const examples = guideBlocks('command-line.md', 'console').flatMap(commandsIn)
  expect(examples.length).toBeGreaterThan(8)
  for (const { line, output } of examples) {
    const [command = '', file] = line.replace(/^roomkeeper-cli /, '').split(' > ')
    const args = command
      .replace('https://rooms.example.org', harness.url)
      .replace('LXJ45kN', place.id)
      .replace('room.json', join(folder, 'room.json'))
      .split(' ')
    const { stdout, stderr } = await runRemoteHere(args, { input: place.key, terminal: { configFolder: config } })
    const shown = (stdout + stderr)
      .replaceAll(harness.url, 'https://rooms.example.org')
      .replaceAll(place.id, 'LXJ45kN')
      .replaceAll(/rk_\w{6}…/g, 'rk_9fQx2L…')
    if (file !== undefined) expect(JSON.parse(shown)).toHaveProperty('dec')
    // The width of a column depends on the address of the server.
    else expect(shown.trimEnd().replaceAll(/ {2,}/g, '  ')).toBe(output.replaceAll(/ {2,}/g, '  '))
  }
})
