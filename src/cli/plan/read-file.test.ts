// Broken files: each mistake is named with its line and column.
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { isFullForm, sampleOf } from '../../../test/support/long-form.ts'
import { readDocument } from './read-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-files-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'file.yaml')

function mistakesIn(content: string | Uint8Array): string {
  writeFileSync(file, content)
  try {
    readDocument(file)
    return 'none'
  } catch (error) {
    return (error as Error).message
      .replaceAll(`${file}:`, '')
      .replaceAll(file, 'FILE')
      .replace(/\n?Nothing was changed\.$/, '')
  }
}

const start = 'organisation: x\n'
const nested = (count: number) => `${start}rooms: ${'['.repeat(count)}`

const noDocument = 'A document is a map of keys, such as organisation and rooms. "export" writes one to start from.'

test.each<[what: string, content: string | Uint8Array, mistakes: string]>([
  ['no organisation', 'rooms: []', '1:1: organisation is missing. Write the identifier that "context list" shows.'],
  ['no text', '', '1:1: The file is empty. "export" writes one to start from.'],
  ['a text', 'hello', `1:1: ${noDocument}`],
  ['a list', '- x\n', `1:1: ${noDocument}`],
  [
    'an alias',
    `${start}rooms:\n  - &a { name: a }\n  - *a\n`,
    '4:5: Aliases (*name) are not supported. Write the value again.',
  ],
  ['a cycle', 'organisation: &a [*a]\n', '1:19: Aliases (*name) are not supported. Write the value again.'],
  ['a key twice', `${start}rooms: []\nrooms: []\n`, '3:1: Duplicate key: rooms. Remove one of the two.'],
  ['a tab', `${start}rooms:\n\t- name: a\n`, '3:1: Tabs are not allowed as indentation.'],
  ['two documents', `${start}---\n${start}`, '2:1: A file has one document. Remove the line ---.'],
  ['a tag', 'organisation: !!js/function x\n', '1:15: Unresolved tag: tag:yaml.org,2002:js/function.'],
  ['UTF-16', new Uint8Array(Buffer.from('\ufeffa: b', 'utf16le')), 'FILE is UTF-16. Save it as UTF-8.'],
  [
    'Latin-1',
    new Uint8Array(Buffer.from(`${start}rooms:\n  - name: Gr\xf6\xdfe\n`, 'latin1')),
    '3:13: The text is not UTF-8. Save the file as UTF-8.',
  ],
  [
    'a control character',
    `${start}rooms:\n - name: "a\\u0007"\n`,
    '3:10: The value must be a text of one line, without control characters.',
  ],
  [
    'a wrong key of JSON',
    '{"organisation": "x",\n "rooms": [{"name": "a", "nam": 1}]}',
    '2:33: Unknown key nam. Known keys: id, name, capacity, tags, floor, contact, externalId, fields, profile.',
  ],
  [
    'a time zone that the service refuses',
    `${start}locations:\n  - { name: a, timezone: Mars/Base }\n  - { name: b, timezone: "+05:17" }\n`,
    '3:26: The value must be a time zone, such as Europe/Oslo.\n4:26: The value must be a time zone, such as Europe/Oslo.',
  ],
  ['a number as a text', `${start}rooms:\n  - name: a\n    capacity: "8"\n`, '4:15: The value must be a whole number.'],
  [
    'a key that is missing',
    `${start}regions:\n  - name: a\n    locations:\n      - timezone: UTC\n`,
    '5:9: name is missing.',
  ],
  [
    'a day that does not exist',
    `${start}endpoints:\n  - serial: a\n    installedOn: 2026-02-30\n`,
    '4:18: The value must be a day of the calendar, such as 2026-05-31.',
  ],
  [
    'a time zone that does not exist',
    `${start}profiles:\n  - { name: a, config: { timezone: Mars } }\n`,
    '3:36: The value must be a time zone, such as Europe/Oslo.',
  ],
  [
    'a password',
    `${start}profiles:\n  - { name: a, config: { settingsPassword: horse } }\n`,
    '3:44: The value must be {env: NAME}.',
  ],
  [
    'an owner',
    `${start}users:\n  - { email: a@example.org, role: owner }\n`,
    '3:35: The value must be one of admin, operator, viewer.',
  ],
  ['a rule that does not exist', `${start}incidentRules:\n  no.rule: {}\n`, '3:12: Unknown key no.rule. Known keys: '],
  [
    'two mistakes',
    `${start}rooms:\n  - name: a\n    tags: [A]\n  - nam: b\n`,
    '4:12: A tag must have 1 to 40 of a-z, 0-9 and -.\n5:5: name is missing.\n5:10: Unknown key nam.',
  ],
  ['a name of digits', `${start}rooms:\n  - name: 101\n`, '3:11: The value must be a text: write it in quotes.'],
  [
    'a capacity that is a text',
    `${start}rooms: [{ name: a, capacity: "8" }]\n`,
    '2:30: The value must be a whole number.',
  ],
  [
    'a name of a field, and a variable',
    `${start}rooms: [{ name: a, fields: { Cost Centre: x } }]\nprofiles: [{ name: a, config: { settingsPassword: { env: MY SECRET } } }]\n`,
    '2:43: The name of a field must have 1 to 40 of a-z, 0-9 and _.\n3:58: The value must be the name of a variable, such as HOOK_URL.',
  ],
  [
    'a time of day',
    `${start}silences: [{ place: { all: true }, reason: a, weekly: { days: [mon], from: "24:00", to: "5:00" } }]\n`,
    '2:76: The value must be a time of day, such as 20:00.\n2:89: The value must be a time of day, such as 20:00.',
  ],
])('%s', (_, content, mistakes) => {
  const found = mistakesIn(content)
  expect(found.startsWith(mistakes) || found, found).toBe(true)
})

test('a byte order mark is no mistake', () => {
  expect(mistakesIn(`\ufeff${start}`)).toBe('none')
})

test('bombs cost little: deep nesting, many keys, many mistakes, and a file of 100 MB, of which nothing is read', () => {
  expect(mistakesIn(nested(isFullForm ? 100_000 : 3000))).toContain('The values are nested too deeply.')
  const keys = Array.from({ length: isFullForm ? 100_000 : 5000 }, (_, i) => `k${i}: 1\n`).join('')
  expect(mistakesIn(start + keys).split('\n')).toHaveLength(51)
  expect(mistakesIn(`${start}rooms:\n${'- { nam: a }\n'.repeat(isFullForm ? 50_000 : 500)}`)).toContain(
    '50 more mistakes.',
  )
  if (isFullForm) {
    expect(mistakesIn(`${start}rooms: [${'1,'.repeat(3_000_000)}]`)).toContain(
      'FILE has too many keys and values for one file. Split it',
    )
  }
  writeFileSync(file, '')
  truncateSync(file, 100 * 1024 * 1024)
  const before = process.memoryUsage().rss
  expect(() => readDocument(file)).toThrow(/has 100 MB\. A document can have 16 MB\.$/)
  // A pipe or a device has no size.
  expect(() => readDocument('/dev/zero')).toThrow(/^\/dev\/zero has 17 MB\. A document can have 16 MB\.$/)
  expect(process.memoryUsage().rss - before).toBeLessThan(40 * 1024 * 1024)
})

const whole = `${start}regions:\n  - name: Europe\n    locations:\n      - name: Oslo\n        rooms:\n          - { name: "Größe", capacity: 8, tags: [a, b] }\nprofiles:\n  - name: Quiet\n    config: { nightMode: true }\n`
const cuts = Array.from(whole, (_, i) => i)

test('a file that is cut, or has another character, at any place is read, or its mistakes have places', () => {
  for (const at of [...sampleOf(cuts, 1, 15)]) {
    for (const content of [
      whole.slice(0, at),
      `${whole.slice(0, at)}\u0000${whole.slice(at + 1)}`,
      `${whole.slice(0, at)}}${whole.slice(at)}`,
    ]) {
      for (const line of mistakesIn(content).split('\n')) expect(line).toMatch(/^(none|\d+:\d+: .+\.)$/)
    }
  }
})
