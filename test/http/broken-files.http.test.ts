// 200 broken files, given to the commands that read files: each mistake is named with its place, nothing is changed, and memory is bounded.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Fixture, newFixture } from '../support/fixture.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { runRemoteHere } from '../support/run-here.ts'

let harness: Harness
let org: Fixture
let serial: string
const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-broken-'))
beforeAll(async () => {
  harness = await startHarness()
  org = await newFixture(harness)
  serial = (await org.call('GET', `/endpoints/${org.endpoint}`)).body.serial
  await org.call('POST', '/profiles', { body: { name: 'Twice', config: {} } })
  await org.call('POST', '/profiles', { body: { name: 'Twice', config: {} } })
})
afterAll(async () => {
  await harness.close()
  rmSync(folder, { recursive: true })
})

type Content = string | Uint8Array
interface BrokenFile {
  readonly what: string
  readonly content: Content
  /** Whether the mistake is about the file as a whole. */
  readonly isWhole?: boolean
}

const utf16 = (text: string, bigEndian = false) => {
  const bytes = Buffer.from(text, 'utf16le')
  return bigEndian ? bytes.swap16() : bytes
}
const latin1 = (text: string) => Buffer.from(text, 'latin1')
const spreadsheet = Buffer.from('504b0304140006000800000021', 'hex')
const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(64, 0xff)])
const page = '<!DOCTYPE html>\n<html><body><p>Sign in</p></body></html>\n'

/** Days that the calendar does not have, and texts that are no days. */
const wrongDays = [
  '2026-02-30',
  '2025-02-29',
  '2026-13-01',
  '2026-00-10',
  '2026-04-31',
  '31.12.2026',
  '2026-1-1',
  'tomorrow',
]
const wrongCapacities = ['0', '-1', '10001', '1.5', 'many', '1e9', '0x10', '8 seats']
const wrongZones = ['Mars/Base', 'Europe/Atlantis', 'UTC+25', 'CEST+1', 'oslo']
const wrongTags = ['Board room!', 'ÄÖ', 'a_b', 'x'.repeat(41)]
const wrongFieldNames = ['Cost Centre', 'kosten-stelle', 'größe', 'x'.repeat(41)]

/** Documents: a line of YAML in its place, whose value is wrong. */
const inDocument = (what: string, lines: string): BrokenFile => ({ what, content: `organisation: ORG\n${lines}\n` })
const room = (line: string) => `rooms:\n  - name: Room\n    ${line}`
const documents: readonly BrokenFile[] = [
  { what: 'an empty document', content: '' },
  { what: 'spaces only', content: ' \n\n' },
  { what: 'a comment only', content: '# rooms\n' },
  { what: 'a text', content: 'rooms' },
  { what: 'a list', content: '- rooms\n' },
  { what: 'no organisation', content: 'rooms: []\n' },
  { what: 'an organisation that is a number', content: 'organisation: 7\n' },
  { what: 'an organisation that is empty', content: 'organisation: ""\n' },
  { what: 'UTF-16, little-endian', content: utf16('\ufefforganisation: ORG\n'), isWhole: true },
  { what: 'UTF-16, big-endian', content: utf16('\ufefforganisation: ORG\n', true), isWhole: true },
  { what: 'Latin-1', content: latin1('organisation: ORG\nrooms:\n  - name: Größe\n') },
  {
    what: 'Windows-1252 quotes',
    content: Buffer.from([...Buffer.from('organisation: ORG\nrooms:\n  - name: '), 0x93, 0x94]),
  },
  { what: 'a spreadsheet', content: spreadsheet },
  { what: 'a picture', content: picture },
  { what: 'a compressed file', content: gzipSync('organisation: ORG\n') },
  { what: 'a page of HTML', content: page },
  { what: 'a file of 100 MB', content: Buffer.alloc(100_000_000, 0x20), isWhole: true },
  { what: 'JSON that is cut', content: '{"organisation": "ORG", "rooms": [{"name": ' },
  { what: 'JSON with two values', content: '{"organisation": "ORG"} {"organisation": "ORG"}' },
  { what: 'JSON without a comma', content: '{"organisation": "ORG" "rooms": []}' },
  inDocument('a cyclic alias', 'rooms: &a\n  - name: x\n    tags: *a'),
  inDocument('an alias of itself', 'rooms: &a [*a]'),
  inDocument(
    'a bomb of aliases',
    `rooms:\n  - name: &a0 aaaaaaaaaa\n${Array.from({ length: 12 }, (_, i) => `  - &a${i + 1} [${`*a${i}, `.repeat(10)}]`).join('\n')}`,
  ),
  inDocument('a bomb of merge keys', 'regions:\n  - &a { name: a }\n  - <<: [*a, *a]'),
  inDocument('deep lists', `rooms: ${'['.repeat(5000)}`),
  inDocument('deep maps', `rooms: ${'{a: '.repeat(5000)}`),
  inDocument('deep lists in block style', `rooms:\n${'- '.repeat(5000)}x`),
  inDocument('10,000 unknown keys', Array.from({ length: 10_000 }, (_, i) => `k${i}: 1`).join('\n')),
  inDocument('10,000 rooms without a name', `rooms:\n${'  - { capacity: 1 }\n'.repeat(10_000)}`),
  inDocument('a tag of JavaScript', 'rooms: !!js/function "x"'),
  inDocument('a tag of Python', 'rooms: !!python/object/apply:os.system ["ls"]'),
  inDocument('a binary value', 'rooms:\n  - name: !!binary R0lGODlhAQ=='),
  inDocument('a tab', 'rooms:\n\t- name: x'),
  inDocument('a key twice', 'rooms: []\nrooms: []'),
  inDocument('a second document', '---\nrooms: []'),
  inDocument('a wrong indentation', 'rooms:\n  - name: x\n capacity: 1'),
  inDocument('a quote that nothing closes', 'rooms:\n  - name: "x'),
  inDocument('a bracket that nothing closes', 'rooms: [{ name: x }'),
  inDocument('a null byte', 'rooms:\n  - name: "a\\0b"'),
  inDocument('half of a surrogate pair', 'rooms:\n  - name: "a\\ud800b"'),
  inDocument('a line break in a name', 'rooms:\n  - name: "a\\nb"'),
  inDocument('a name of spaces', 'rooms:\n  - name: "  "'),
  inDocument('a name of 101 characters', `rooms:\n  - name: ${'x'.repeat(101)}`),
  inDocument('an external id of 129 characters', `rooms:\n  - { name: x, externalId: ${'x'.repeat(129)} }`),
  inDocument('21 custom fields', room(`fields: { ${Array.from({ length: 21 }, (_, i) => `f${i}: x`).join(', ')} }`)),
  inDocument('a custom field of 256 characters', room(`fields: { a: ${'x'.repeat(256)} }`)),
  inDocument('a custom field that is a number', room('fields: { a: 7 }')),
  inDocument('21 tags', room(`tags: [${Array.from({ length: 21 }, (_, i) => `t${i}`).join(', ')}]`)),
  inDocument('a profile that does not exist', room('profile: Missing')),
  inDocument('a profile of which there are two', room('profile: Twice')),
  inDocument('two rooms with one path', 'rooms:\n  - name: x\n  - name: x'),
  inDocument('two rooms with one id', 'rooms:\n  - { id: 7, name: x }\n  - { id: 7, name: y }'),
  inDocument(
    'two rooms with one external id',
    'rooms:\n  - { externalId: a, name: x }\n  - { externalId: a, name: y }',
  ),
  inDocument('an id that is too large', 'rooms:\n  - { id: 99999999999, name: x }'),
  inDocument('a device that is not enrolled', 'endpoints:\n  - serial: NONE-1'),
  inDocument(
    'a gateway that is not enrolled',
    'gatewayDevices:\n  - { gateway: NONE, driver: pjlink, host: 10.0.0.1, room: Fjord }',
  ),
  inDocument('a driver that does not exist', 'gatewayDevices:\n  - { gateway: GW, driver: fax, host: 10.0.0.1 }'),
  inDocument(
    'a port that does not exist',
    'gatewayDevices:\n  - { gateway: GW, driver: pjlink, host: 10.0.0.1, port: 70000 }',
  ),
  inDocument(
    'a password of a device',
    'gatewayDevices:\n  - { gateway: GW, driver: pjlink, host: 10.0.0.1, secret: horse }',
  ),
  inDocument('a password of a profile', 'profiles:\n  - { name: x, config: { settingsPassword: horse } }'),
  inDocument(
    'a variable that no shell can have',
    'profiles:\n  - { name: x, config: { settingsPassword: { env: "1 A" } } }',
  ),
  inDocument('a setting that does not exist', 'profiles:\n  - { name: x, config: { darkness: true } }'),
  inDocument('a setting of another type', 'profiles:\n  - { name: x, config: { nightMode: "on" } }'),
  inDocument('an owner', 'users:\n  - { email: new@example.org, role: owner }'),
  inDocument('a person without a role', 'users:\n  - email: new@example.org'),
  inDocument('a wrong e-mail address', 'users:\n  - { email: ada, role: viewer }'),
  inDocument(
    'a region that does not exist',
    'users:\n  - { email: new@example.org, role: viewer, regions: [Atlantis] }',
  ),
  inDocument('a rule that does not exist', 'incidentRules:\n  no.rule: {}'),
  inDocument('a severity that does not exist', 'incidentRules:\n  storage.low: { severity: BAD }'),
  inDocument('a limit that does not exist', 'incidentRules:\n  storage.low: { limits: { opens: 3 } }'),
  inDocument(
    'a silence without a place',
    'silences:\n  - { place: {}, reason: x, weekly: { days: [mon], from: "20:00", to: "05:00" } }',
  ),
  inDocument(
    'a silence with two places',
    'silences:\n  - { place: { all: true, room: Fjord }, reason: x, weekly: { days: [mon], from: "20:00", to: "05:00" } }',
  ),
  inDocument(
    'a time of day that does not exist',
    'silences:\n  - { place: { all: true }, reason: x, weekly: { days: [mon], from: "25:00", to: "05:00" } }',
  ),
  inDocument(
    'a day of the week that does not exist',
    'silences:\n  - { place: { all: true }, reason: x, weekly: { days: [someday], from: "20:00", to: "05:00" } }',
  ),
  inDocument('a kind of channel that does not exist', 'channels:\n  - { name: x, kind: fax }'),
  inDocument(
    'an address of a webhook',
    'channels:\n  - { name: x, kind: webhook, url: "https://hooks.example.org/secret" }',
  ),
  ...wrongDays.map((day) =>
    inDocument(`the day ${day}`, `endpoints:\n  - serial: x\n    installedOn: ${JSON.stringify(day)}`),
  ),
  ...wrongCapacities
    .map((value) =>
      inDocument(`the capacity ${value}`, room(`capacity: ${value.includes(' ') ? JSON.stringify(value) : value}`)),
    )
    .filter(({ content }) => !String(content).includes('0x10')),
  ...wrongZones.map((zone) => inDocument(`the time zone ${zone}`, `locations:\n  - name: x\n    timezone: ${zone}`)),
  ...wrongTags.map((tag) => inDocument(`the tag ${tag}`, room(`tags: [${JSON.stringify(tag)}]`))),
  ...wrongFieldNames.map((name) =>
    inDocument(`the custom field ${name}`, room(`fields: { ${JSON.stringify(name)}: x }`)),
  ),
  ...[
    'regions',
    'locations',
    'rooms',
    'profiles',
    'users',
    'silences',
    'channels',
    'gatewayDevices',
    'endpoints',
  ].flatMap((section) => [
    inDocument(`${section} as a map`, `${section}: { a: 1 }`),
    inDocument(`${section} with a text`, `${section}: [x]`),
    inDocument(`${section} with an unknown key`, `${section}: [{ colour: red }]`),
  ]),
]

const rows = (what: string, ...lines: readonly string[]): BrokenFile => ({ what, content: `${lines.join('\r\n')}\r\n` })
const ofRoom = (column: string, value: string) => rows(`${column} ${value}`, `room,${column}`, `Room,"${value}"`)
const tables = (header: string): readonly BrokenFile[] => [
  { what: 'an empty file', content: '', isWhole: true },
  { what: 'a byte order mark only', content: '\ufeff', isWhole: true },
  { what: 'a spreadsheet', content: spreadsheet },
  { what: 'a picture', content: picture },
  { what: 'a page of HTML', content: page },
  { what: 'a file of 100 MB', content: Buffer.alloc(100_000_000, 0x20), isWhole: true },
  { what: 'a million columns', content: `${header}${',x'.repeat(1_000_000)}\n` },
  { what: 'a million columns in a row', content: `${header}\n${'x,'.repeat(1_000_000)}\n` },
  { what: '20,001 rows', content: `${header}\n${'x\n'.repeat(20_001)}` },
  { what: 'a cell of 10,001 characters', content: `${header}\n${'x'.repeat(10_001)}\n` },
  { what: 'Latin-1', content: latin1(`${header}\nGröße\n`) },
  { what: 'UTF-16 that is cut', content: utf16(`\ufeff${header}\nx\n`).subarray(0, -1) },
  rows('a quotation mark that nothing closes', header, '"x'),
  rows('text after a quotation mark', header, '"x"y'),
  rows('an unknown column', `${header},colour`, 'x,red'),
  rows('a column twice', `${header},${header}`, 'x,y'),
  rows('a cell without a column', header, 'x,y'),
  rows('a column without a name', `${header},`, 'x,y'),
  rows('a formula', header, '=1+1'),
  rows('a formula in quotation marks', header, '"=HYPERLINK(""http://example.org"",""x"")"'),
  rows('a control character', header, 'a\u0007b'),
  rows('a text that is too long', header, 'x'.repeat(1100)),
]

const roomTables: readonly BrokenFile[] = [
  ...tables('room'),
  ...wrongCapacities.map((value) => ofRoom('capacity', value)),
  ...wrongTags.map((value) => ofRoom('tags', value)),
  ...wrongFieldNames.map((name) => rows(`the column field.${name}`, `room,field.${name}`, 'Room,x')),
  ...wrongZones.map((zone) => rows(`the time zone ${zone}`, 'location,timezone', `Oslo,${zone}`)),
  ofRoom('profile', 'Missing'),
  ofRoom('profile', 'Twice'),
  ofRoom('external_id', 'x'.repeat(129)),
  ofRoom('floor', 'a\nb'),
  ofRoom('field.a', 'x'.repeat(256)),
  rows('columns of a location only, without a name', 'timezone', 'UTC'),
  rows('a room twice', 'room', 'Room', 'Room'),
  rows('values without a room', 'location,room,capacity', 'Oslo,,5'),
  rows('a region without a location', 'region,location,room', 'Europe,,Room'),
  rows('two time zones of a location', 'location,timezone,room', 'Oslo,UTC,A', 'Oslo,Asia/Tokyo,B'),
  rows('an id of a location that does not exist', 'location_id,room', '4711,Room'),
  rows('two rooms with one external id', 'room,external_id', 'A,E-1', 'B,E-1'),
]
const deviceTables: readonly BrokenFile[] = [
  ...tables('serial'),
  ...wrongDays.map((day) => rows(`the day ${day}`, 'serial,installed_on', `SERIAL,${day}`)),
  ...wrongDays.map((day) => rows(`a warranty until ${day}`, 'serial,warranty_until', `SERIAL,${day}`)),
  rows('no serial number', 'serial,name', ',Bar'),
  rows('a device twice', 'serial', 'SERIAL', 'SERIAL'),
  rows('a device that is not enrolled', 'serial', 'NONE-1'),
]

/** Runs a command on a file, and returns what it wrote. */
async function refusalOf(args: readonly string[], content: Content) {
  const file = join(folder, 'broken.txt')
  writeFileSync(
    file,
    typeof content === 'string' ? content.replaceAll('ORG', org.id).replaceAll('SERIAL', serial) : content,
  )
  const variables = { ROOMKEEPER_URL: harness.url, ROOMKEEPER_ORG: org.id, ROOMKEEPER_KEY: org.key }
  const { code, stdout, stderr } = await runRemoteHere([...args, file, '--yes'], { variables })
  return { code, stdout, lines: stderr.replaceAll(file, 'FILE').trimEnd().split('\n') }
}

const closing =
  /^(Nothing was changed\.|\d+ more mistakes\.|Wrong rows: \d+\. Correct them in the file\. Nothing was changed\.)$/
const rowAndColumn = /^Row \d+(, column [A-Z]+( \(.+\))?)?: .+[.…"]$/
const kinds = [
  ['apply', ['apply'], documents, /^FILE:\d+:\d+: .+\.$/],
  ['rooms import', ['rooms', 'import'], roomTables, rowAndColumn],
  ['endpoints import', ['endpoints', 'import'], deviceTables, rowAndColumn],
] as const

test('there are at least 200 broken files', () => {
  expect(kinds.reduce((sum, [, , files]) => sum + files.length, 0)).toBeGreaterThanOrEqual(200)
})

const maxGrowthBytes = 700 * 1024 * 1024
test.each(kinds)('%s names each mistake with its place, and changes nothing', async (_, args, files, place) => {
  const before = (await org.audit()).length
  let largest = 0
  const wrong: unknown[] = []
  const memory = process.memoryUsage().rss
  for (const { what, content, isWhole = false } of files.filter((_, i) => isFullForm || i % 8 === 0)) {
    const { code, stdout, lines } = await refusalOf(args, content)
    const mistakes = lines.filter((line) => !closing.test(line))
    const areNamed = isWhole ? mistakes.length === 1 : mistakes.every((line) => place.test(line))
    if (code !== 1 || stdout !== '' || mistakes.join('') === '' || !areNamed) wrong.push({ what, code, stdout, lines })
    largest = Math.max(largest, process.memoryUsage().rss - memory)
  }
  expect(wrong).toEqual([])
  expect((await org.audit()).length).toBe(before)
  expect(largest).toBeLessThan(maxGrowthBytes)
})
