// The device protocol as makers read it: the committed schemas are fresh, and docs/device-protocol.md agrees with them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { messagesText } from '../../src/cli/documents.ts'
import {
  devicePaths,
  downMessages,
  downTopic,
  keepAliveSeconds,
  maxBundleBytes,
  maxPacketBytes,
  upMessages,
  upTopic,
} from '../../src/contract/device/protocol.ts'
import { parseTime } from '../../src/contract/time.ts'
import { tables } from '../support/devices/protocol-tables.ts'

const docs = join(import.meta.dirname, '../../docs')
const committed = readFileSync(join(docs, 'device-messages.json'), 'utf8')
const page = readFileSync(join(docs, 'device-protocol.md'), 'utf8')
const lines = page.split('\n')

/** As strict as a validator gets: a maker's must not stumble. Keys that are not listed fail, so that an example has no typo. */
const ajv = new Ajv2020({ strict: true, allErrors: true })
ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
ajv.addFormat('date-time', (text) => parseTime(text) !== undefined)
const closed = JSON.parse(committed, (_, value) =>
  value?.type === 'object' && value.properties ? { ...value, additionalProperties: false } : value,
)
ajv.addSchema(closed)
const validatorOf = (name: string) => ajv.getSchema(`${closed.$id}#/$defs/${name}`)

const messages = [
  ...['EnrolRequest', 'EnrolAnswer', 'Error'],
  ...[...Object.values(upMessages), ...Object.values(downMessages)].map((m) => (m as { title?: string }).title ?? ''),
]

test('docs/device-messages.json is what the shapes say; if not, run "npm run messages"', () => {
  expect(committed === messagesText(), 'docs/device-messages.json is stale: run "npm run messages"').toBe(true)
})

test('every definition is a schema that a strict validator takes', () => {
  expect(messages.filter((name) => !Object.hasOwn(closed.$defs, name))).toEqual([])
  for (const name of Object.keys(closed.$defs)) expect(validatorOf(name), name).toBeTypeOf('function')
})

test.each(Object.entries(tables))('the page has the table "%s" as the code has it', (name, rows) => {
  const head = lines.findIndex((line) => line.startsWith(`| ${name} |`))
  expect(head, `a table whose first cell is ${name}`).toBeGreaterThan(0)
  const end = lines.indexOf('', head)
  expect(lines.slice(head + 2, end)).toEqual(rows)
})

test('every example on the page is a message that fits its schema', () => {
  const byHand = page.indexOf('## By hand')
  const seen = new Set<string>()
  for (const { 1: name = '', 2: text = '', index } of page.matchAll(/^```json ?(\S*)\n([\s\S]*?)^```$/gm)) {
    const example = JSON.parse(text)
    // The answers of the API are compared with real answers where the chapter is run.
    if (name === '' && index > byHand) continue
    const validate = validatorOf(name)
    expect(validate, `"${name}" names no schema: ${text}`).toBeTypeOf('function')
    expect(validate?.(example), `${name}: ${ajv.errorsText(validate?.errors)} in ${text}`).toBe(true)
    seen.add(name)
  }
  expect(
    messages.filter((name) => !seen.has(name)),
    'messages without an example',
  ).toEqual([])
})

test('the page names every topic with its message, every path and every limit', () => {
  const id = '{endpointId}'
  const topics = [
    ...Object.entries(upMessages).map(([kind, shape]) => [upTopic(id, kind as never), 'device', shape] as const),
    ...Object.entries(downMessages).map(([kind, shape]) => [downTopic(id, kind as never), 'service', shape] as const),
  ]
  for (const [topic, sender, shape] of topics) {
    expect(page).toContain(`| \`${topic}\` | ${sender} | ${(shape as { title?: string }).title} |`)
  }
  for (const path of Object.values(devicePaths)) expect(page).toContain(path)
  expect(page).toContain(`| one MQTT packet | ${maxPacketBytes / 1024} KiB |`)
  expect(page).toContain(`| one log bundle | ${maxBundleBytes / 1024 / 1024} MiB |`)
  expect(page).toContain(
    `${keepAliveSeconds.min} to ${keepAliveSeconds.max} seconds; ${keepAliveSeconds.usual} is usual`,
  )
})

test('every link inside the page leads to a heading', () => {
  const anchors = [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
  const linked = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor as string)
  expect(linked.filter((anchor) => !anchors.includes(anchor))).toEqual([])
  const chapters = [...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title).filter((title) => title !== 'Contents')
  expect([...page.matchAll(/^\d+\. \[(.+)\]\(#/gm)].map(([, title]) => title)).toEqual(chapters)
})
