// The commands that import and export CSV files, against a real service.
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDevice } from '../../../test/support/devices/agent-device.ts'
import { startGateway } from '../../../test/support/devices/gateway.ts'
import { enrolTestDevice } from '../../../test/support/devices/test-device.ts'
import { commandsIn, guideBlocks } from '../../../test/support/guide.ts'
import { type Harness, startHarness, type TestOrg } from '../../../test/support/harness.ts'
import { isFullForm, runCount } from '../../../test/support/long-form.ts'
import { testTerminal } from '../../../test/support/test-terminal.ts'
import { runCommand } from '../run-command.ts'
import type { Terminal } from '../terminal/terminal.ts'

let harness: Harness
let folder: string
beforeAll(async () => {
  harness = await startHarness()
  folder = mkdtempSync(join(tmpdir(), 'csv-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await harness.close()
})

interface Caller {
  readonly key?: string
  readonly url?: string
  readonly variables?: Readonly<Record<string, string>>
  readonly terminal?: Partial<Terminal>
}

/** Runs a command with the key of the organisation in its environment. */
async function run(org: TestOrg, args: readonly string[], { key = org.key, url = harness.url, ...own }: Caller = {}) {
  const output = { out: '', err: '' }
  const variables: Record<string, string> = {
    ...{ ROOMKEEPER_URL: url, ROOMKEEPER_ORG: org.id, ROOMKEEPER_KEY: key },
    ...own.variables,
  }
  const terminal = testTerminal({
    write: (text) => {
      output.out += `${text}\n`
    },
    writeRaw: async (chunk) => {
      output.out += chunk
    },
    writeError: (text) => {
      output.err += `${text}\n`
    },
    variable: (name) => variables[name],
    untilStopped: () => new Promise(() => {}),
    ...own.terminal,
  })
  return { code: await runCommand(terminal, args), ...output }
}

const fileOf = (name: string, lines: readonly string[]): string => {
  const file = join(folder, name)
  writeFileSync(file, `${lines.join('\r\n')}\r\n`)
  return file
}
const rowsOf = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\r\n')
const auditCount = async (org: TestOrg) => (await org.audit()).length
const roomsOf = async (org: TestOrg) => (await org.call('GET', '/rooms')).body.rooms

test('rooms import makes what is missing, and writes the file back with codes; the same file again changes nothing', async () => {
  const org = await harness.newOrg()
  await org.call('POST', '/profiles', { body: { name: 'Quiet', config: { nightMode: true } } })
  const file = fileOf('rooms.csv', [
    'Region;Location;Room;Capacity;Tags;Profile;Timezone;Floor;Contact;External ID;field.cost_centre',
    'Europe;Oslo;Fjord;8;quiet north;Quiet;Europe/Oslo;3;+47 22 33;E-1;C1',
    'Europe;Oslo;"Ås; ""big""";;;;;;;;',
    ';;Van;4;;;;;;;',
  ])
  const [output, again] = [join(folder, 'answer.csv'), join(folder, 'again.csv')]
  const refused = await run(org, ['rooms', 'import', file])
  expect(refused).toMatchObject({
    code: 1,
    err: 'Add --yes to make these 5 changes. Nothing was changed.\n',
  })
  expect(await roomsOf(org)).toEqual([])
  const first = await run(org, ['rooms', 'import', file, '--yes', '--output', output])
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(first.out).toMatch(/^Row 2: Europe \/ Oslo \/ Fjord: created \(new region Europe; new location Oslo; /)
  expect(first.out).toMatch(/\n3 created\.\n$/)
  expect(statSync(output).mode & 0o777).toBe(0o600)

  const room = (await org.call('GET', '/rooms/1')).body
  expect(room).toMatchObject({
    ...{ name: 'Fjord', capacity: 8, tags: ['quiet', 'north'], profileId: 1, floor: '3', contact: '+47 22 33' },
    ...{ externalId: 'E-1', fields: { cost_centre: 'C1' }, location: { name: 'Oslo', region: { name: 'Europe' } } },
  })
  const [header, fjord, , van] = rowsOf(output)
  expect(header).toMatch(/;field\.cost_centre;organisation;room_id;enrolment_code;enrolment_url;result$/)
  expect(fjord).toBe(
    `Europe;Oslo;Fjord;8;quiet north;Quiet;Europe/Oslo;3;'+47 22 33;E-1;C1;${org.id};1;${room.dec};${room.enrolmentUrl};created`,
  )
  expect(van).toMatch(/;created$/)

  const before = await auditCount(org)
  for (const same of [file, output]) {
    const { code, out } = await run(org, ['rooms', 'import', same, '--output', again])
    expect({ code, out }).toEqual({ code: 0, out: '3 unchanged.\n' })
    expect(rowsOf(again)[1]).toBe(fjord?.replace(/created$/, 'unchanged'))
  }
  const exported = join(folder, 'export.csv')
  await run(org, ['rooms', 'export', '--output', exported])
  expect((await run(org, ['rooms', 'export'])).out).toBe(readFileSync(exported, 'utf8'))
  expect((await run(org, ['rooms', 'export', '--bom'])).out).toBe(`\ufeff${readFileSync(exported, 'utf8')}`)
  expect(await run(org, ['rooms', 'import', exported, '--json'])).toMatchObject({ code: 0, err: '' })
  expect(await auditCount(org)).toBe(before)

  // A room that was renamed in the file keeps its id.
  writeFileSync(exported, readFileSync(exported, 'utf8').replace(',Fjord,8,', ',Fjord 2,12,'))
  const renamed = await run(org, ['rooms', 'import', exported, '--yes', '--json'])
  const answer = JSON.parse(renamed.out)
  expect(answer.counts).toEqual({ changed: 1, unchanged: 2 })
  expect(answer.rows.find(({ id }: { id: number }) => id === 1)).toMatchObject({
    ...{ result: 'changed', enrolmentCode: room.dec, enrolmentUrl: room.enrolmentUrl },
    changes: expect.arrayContaining([{ field: 'capacity', from: 8, to: 12 }]),
  })
  expect(await roomsOf(org)).toHaveLength(3)
})

test('a file with a wrong row changes nothing, and is written back with its mistakes', async () => {
  const org = await harness.newOrg()
  const file = fileOf('wrong.csv', ['room,capacity', 'A,1', 'B,many'])
  const output = join(folder, 'wrong-answer.csv')
  const before = await auditCount(org)
  const ended = await run(org, ['rooms', 'import', file, '--yes', '--output', output])
  expect(ended).toEqual({
    code: 1,
    out: '',
    err: 'Row 3, column B (capacity): "many" is not a whole number from 1 to 10000.\nWrong rows: 1. Correct them in the file. Nothing was changed.\n',
  })
  expect(rowsOf(output).at(-1)).toBe(
    'B,many,,,,,"wrong: Row 3, column B (capacity): ""many"" is not a whole number from 1 to 10000."',
  )
  expect(await run(org, ['rooms', 'import', fileOf('unknown.csv', ['room,capcity', 'A,1'])])).toMatchObject({ code: 1 })
  const formula = fileOf('formula.csv', ['room,capacity,floor', 'A,many,=1+1', 'B,0,'])
  expect(await run(org, ['rooms', 'import', formula, '--yes', '--output', join(folder, 'none.csv')])).toEqual({
    code: 1,
    out: '',
    err: [
      "Row 2, column C (floor): The cell is a formula. Save its value; if the text is meant, write an apostrophe in front: '=…",
      'Row 2, column B (capacity): "many" is not a whole number from 1 to 10000.',
      'Row 3, column B (capacity): "0" is not a whole number from 1 to 10000.',
      'Nothing was changed.\n',
    ].join('\n'),
  })
  expect(await run(org, ['rooms', 'import', join(folder, 'none.csv')])).toMatchObject({
    code: 1,
    err: `Cannot read ${join(folder, 'none.csv')}: no such file or folder. Check the path.\n`,
  })
  expect(await auditCount(org)).toBe(before)
})

test('the example of docs/csv.md does what the page says', async () => {
  const org = await harness.newOrg()
  const [text = ''] = guideBlocks('csv.md', 'csv')
  const file = fileOf('rooms.csv', text.trimEnd().split('\n'))
  const [transcript = ''] = guideBlocks('csv.md', 'console')
  for (const { line, output } of commandsIn(transcript)) {
    const [, from, to] = /^sed -i s\/(.*)\/(.*)\/ rooms\.csv$/.exec(line) ?? []
    if (from !== undefined && to !== undefined) {
      writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
      continue
    }
    const paths: Readonly<Record<string, string>> = { 'rooms.csv': file, 'answer.csv': join(folder, 'guide.csv') }
    const [, ...args] = line.split(' ').map((word) => paths[word] ?? word)
    const { out, err } = await run(org, args)
    expect(`${out}${err}`.trimEnd(), line).toBe(output)
  }
  expect(rowsOf(join(folder, 'guide.csv'))[0]).toMatch(/,organisation,room_id,enrolment_code,enrolment_url,result$/)
})

test('the answer of an import can be read by its owner only, and a place where it cannot be written is refused first', async () => {
  const org = await harness.newOrg()
  const file = fileOf('private.csv', ['room', 'A'])
  const output = fileOf('private-answer.csv', ['older'])
  chmodSync(output, 0o644)
  for (const [place, reason] of [
    [join(folder, 'missing', 'answer.csv'), 'no such file or folder. Check the path.'],
    [folder, 'it is a folder'],
  ] as const) {
    const refused = await run(org, ['rooms', 'import', file, '--yes', '--output', place])
    expect([refused.code, refused.err.includes(`Cannot write ${place}`), refused.err.includes(reason)]).toEqual([
      1,
      true,
      true,
    ])
  }
  expect(await roomsOf(org)).toEqual([])
  expect(await run(org, ['rooms', 'import', file, '--yes', '--output', output])).toMatchObject({ code: 0 })
  expect([statSync(output).mode & 0o777, rowsOf(output)[0]]).toEqual([0o600, expect.stringMatching(/^room,/)])
  const exported = await run(org, ['rooms', 'export', '--output', join(folder, 'missing', 'rooms.csv')])
  expect(exported).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^Cannot write .*: no such file or folder\. Check the path\.\n$/),
  })
})

test('a broken file cannot send control characters to the terminal', async () => {
  const org = await harness.newOrg()
  const { err } = await run(org, ['rooms', 'import', fileOf('escape.csv', ['room,\u001b[2Jx', 'A,1'])])
  expect(err).toContain('(?[2Jx)')
})

test('with --json a person who is asked reads the plan on standard error', async () => {
  const org = await harness.newOrg()
  const file = fileOf('asked.csv', ['room', 'A'])
  const asking = { canAsk: true, ask: async () => 'no' }
  expect(await run(org, ['rooms', 'import', file, '--json'], { terminal: asking })).toEqual({
    code: 1,
    out: '',
    err: 'Row 2: A: created (name: A)\nNothing was changed.\n',
  })
  expect(await roomsOf(org)).toEqual([])
})

test('rooms whose codes cannot be read are in the file that comes back, and the error says how to get the codes', async () => {
  const org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'A' } })
  const file = fileOf('codes.csv', ['room', 'A', 'B'])
  const output = join(folder, 'codes-answer.csv')
  // Another person deletes a room between the plan and the end.
  const deleting = {
    canAsk: true,
    ask: async () => {
      await org.call('DELETE', '/rooms/1')
      return 'yes'
    },
  }
  const ended = await run(org, ['rooms', 'import', file, '--output', output], { terminal: deleting })
  expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('the codes could not be read') })
  expect(rowsOf(output).map((row) => row.split(',').at(-1))).toEqual(['result', 'unchanged', 'created'])
})

test('a key that may not make regions is told so before anything is changed', async () => {
  const org = await harness.newOrg()
  await org.call('POST', '/regions', { body: { name: 'Europe' } })
  await org.call('POST', '/locations', { body: { name: 'Oslo', regionId: 1 } })
  const key = await org.newKey({ scopes: ['read', 'write'], regionIds: [1] })
  const mine = fileOf('mine.csv', ['region,location,room', 'Europe,Oslo,A'])
  const both = fileOf('both.csv', ['region,location,room', 'Europe,Oslo,B', 'Asia,Tokyo,C'])
  expect(await run(org, ['rooms', 'import', mine, '--yes'], { key })).toMatchObject({ code: 0 })
  const refused = await run(org, ['rooms', 'import', both, '--yes'], { key })
  expect(refused.code).toBe(1)
  expect(refused.err).toMatch(/Nothing was changed\.\n$/)
  expect(await roomsOf(org)).toHaveLength(1)
})

test('endpoints import changes devices by their serial numbers', async () => {
  const org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  const { answer } = await enrolTestDevice(harness, org, { roomId: 1, serial: 'NF-1' })
  const file = fileOf('endpoints.csv', [
    'serial,name,asset_tag,installed_on,warranty_until,external_id,field.po',
    'NF-1,Bar,A-1,2026-02-28,2028-02-29,X-1,P1',
  ])
  expect(await run(org, ['endpoints', 'import', file, '--yes'])).toMatchObject({ code: 0, err: '' })
  expect((await org.call('GET', `/endpoints/${answer.endpointId}`)).body).toMatchObject({
    ...{ name: 'Bar', assetTag: 'A-1', installedOn: '2026-02-28', warrantyUntil: '2028-02-29', externalId: 'X-1' },
    fields: { po: 'P1' },
  })
  expect(await run(org, ['endpoints', 'import', file])).toMatchObject({ code: 0, out: '1 unchanged.\n' })
  const unknown = fileOf('unknown.csv', ['name,serial', 'Bar,NF-1', 'Baz,NF-2'])
  expect((await run(org, ['endpoints', 'import', unknown, '--yes'])).err).toBe(
    'Row 3, column B (serial): No endpoint has the serial number NF-2. Enrol it first, or remove the entry.\nWrong rows: 1. Correct them in the file. Nothing was changed.\n',
  )
})

test('gateway-devices import adds devices with one password for all, or with those that the file names', async () => {
  const org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  const gateway = await startGateway(harness, org, { roomId: 1, serial: 'GW-1' })
  interface Item {
    readonly host: string
  }
  const byHost = (items: readonly Item[]) => items.toSorted((a, b) => (a.host < b.host ? -1 : 1))
  const devices = async () => byHost((await org.call('GET', `/gateways/${gateway.id}/devices`)).body.devices)
  const listed = async () => byHost((await gateway.list()).devices)
  const file = fileOf('projectors.csv', [
    'driver,host,room,option.pollSeconds',
    'pjlink,10.20.0.1,Fjord,30',
    'pjlink,10.20.0.2,Fjord,',
  ])
  const command = ['gateway-devices', 'import', 'GW-1', file, '--yes']
  expect(await run(org, command)).toMatchObject({ code: 1, err: expect.stringContaining('no column secret') })
  const questions: string[] = []
  const asking = {
    canAsk: true,
    ask: async (question: string) => {
      questions.push(question)
      return 'one for all'
    },
  }
  expect(await run(org, command, { terminal: asking })).toMatchObject({ code: 0, err: '' })
  expect(questions).toEqual(['Password for all devices of the file (empty: none): '])
  expect(await devices()).toMatchObject([
    { host: '10.20.0.1', port: 4352, secrets: ['secret'], options: { pollSeconds: 30 } },
    { host: '10.20.0.2', port: 4352, secrets: ['secret'] },
  ])
  expect((await listed())[0]).toMatchObject({ secret: 'one for all' })
  expect(await run(org, command)).toMatchObject({ code: 0, out: '2 unchanged.\n' })

  const named = fileOf('codecs.csv', ['driver,host,room,username,secret', 'roomos,10.20.0.3,Fjord,admin,env:CODEC'])
  const nowhere = fileOf('nowhere.csv', ['driver,host,room,secret', 'pjlink,10.20.0.4,Attic,env:CODEC'])
  expect((await run(org, ['gateway-devices', 'import', 'GW-1', nowhere, '--yes'])).err).toMatch(
    /^Row 2, column C \(room\): No room has the path "Attic"\. /,
  )
  const other = ['gateway-devices', 'import', gateway.id, named, '--yes']
  expect(await run(org, other)).toMatchObject({ code: 1, err: 'Set the variables that the file names: CODEC.\n' })
  expect(await run(org, other, { variables: { CODEC: 'theirs' } })).toMatchObject({ code: 0, err: '' })
  expect((await listed())[2]).toMatchObject({ host: '10.20.0.3', secret: 'theirs' })
})

test('an import that is stopped and repeated has the same end, and makes nothing twice', async () => {
  const org = await harness.newOrg()
  const count = runCount({ short: 12, full: 60, long: 200 })
  const file = fileOf('stopped.csv', ['location,room', ...Array.from({ length: count }, (_, n) => `Oslo,Room ${n}`)])
  let shown = 0
  const { promise, resolve } = Promise.withResolvers<string>()
  const stopping = { untilStopped: () => promise, showProgress: () => void (++shown === 2 && resolve('SIGINT')) }
  const stopped = await run(org, ['rooms', 'import', file, '--yes'], { terminal: stopping })
  const made = (await roomsOf(org)).length
  expect(made).toBeLessThan(count)
  expect(stopped).toMatchObject({ code: 1, err: expect.stringContaining('it skips what is done') })
  expect(await run(org, ['rooms', 'import', file, '--yes'])).toMatchObject({ code: 0 })
  const names = (await roomsOf(org)).map(({ name }: { name: string }) => name)
  expect([names.length, new Set(names).size]).toEqual([count, count])
})

test('1,000 rooms with their codes take less than 15 s of CPU, server and command together, beside a running fleet', async () => {
  const org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fleet' } })
  const devices = await Promise.all(
    Array.from({ length: 10 }, (_, n) => startDevice(harness, org, { roomId: 1, serial: `RUN-${n}`, model: 'NF19B1' })),
  )
  const count = runCount({ short: 50, full: 1000, long: 1000 })
  const file = fileOf('many.csv', [
    'region,location,room,capacity,external_id,field.cost_centre',
    ...Array.from({ length: count }, (_, n) => `Region ${n % 5},Site ${n % 40},Room ${n},8,E-${n},C${n}`),
  ])
  const output = join(folder, 'many-answer.csv')
  const [start, cpu] = [performance.now(), process.cpuUsage()]
  const ended = await run(org, ['rooms', 'import', file, '--yes', '--output', output])
  const { user, system } = process.cpuUsage(cpu)
  const [seconds, cpuSeconds] = [(performance.now() - start) / 1000, (user + system) / 1e6]
  expect(ended).toMatchObject({ code: 0, err: '' })
  process.stdout.write(
    `${count} rooms imported with codes in ${seconds.toFixed(1)} s (${cpuSeconds.toFixed(1)} s of CPU)\n`,
  )
  expect(rowsOf(output).filter((row) => /,[0-9A-Z-]{14},http[^,]*,created$/.test(row))).toHaveLength(count)
  expect(cpuSeconds).toBeLessThan(15)
  if (isFullForm) expect(seconds).toBeLessThan(15)
  for (const device of devices) await device.stop()
})

test('under a rate limit an import waits when the server asks for it', async () => {
  const limited = await startHarness({ rateLimit: runCount({ short: 10, full: 100, long: 100 }) })
  try {
    const org = await limited.newOrg()
    const count = runCount({ short: 50, full: 5000, long: 5000 })
    const file = fileOf('limited.csv', ['room', ...Array.from({ length: count }, (_, n) => `Room ${n}`)])
    const { code, err } = await run(org, ['rooms', 'import', file, '--yes'], { url: limited.url })
    expect(code).toBe(0)
    // Hundreds of requests wait, and not each of them is reported.
    expect(err).toMatch(/^(The server asks to wait \d+ s \(too many requests\)\.\n){1,9}$/)
    // The client of the test does not wait; the command does.
    const { out } = await run(org, ['rooms', 'export'], { url: limited.url })
    expect(out.trimEnd().split('\r\n')).toHaveLength(1 + count)
  } finally {
    await limited.close()
  }
})
