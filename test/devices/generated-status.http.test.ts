// Generated status reports: each is stored or refused as the published JSON Schema says, and no answer breaks its own schema.
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import type { TSchema } from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reportedFields } from '../../src/contract/fleet/reported-status.ts'
import { newDevice, type TestDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { generatedRuns } from '../support/long-form.ts'

const { numRuns: reportCount, seed = Date.now() } = generatedRuns({ short: 1_000, full: 100_000, long: 100_000 })
const deviceCount = 50
/** The clock moves on between two reports of a device, because many bad ones within a minute slow it down. */
const pauseMs = 7_000
/** How many reports of each device lie between two reads. */
const readEvery = 20

let harness: Harness
let org: TestOrg
let devices: TestDevice[]
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  for (const name of ['Fjord', 'Skagen']) await org.call('POST', '/rooms', { body: { name } })
  const models = ['PX-900', 'NF19B1', 'NF19A1', 'CO2-1']
  devices = await Promise.all(
    Array.from({ length: deviceCount }, (_, i) =>
      newDevice(harness, org, { roomId: 1 + (i % 2), model: models[i % models.length] ?? '' }),
    ),
  )
})
afterAll(() => harness.close())

const hostile = fc.constantFrom(
  '',
  '<!channel>',
  '=HYPERLINK("http://example.com")',
  '\u202egnp.exe',
  '__proto__',
  '😀'.repeat(60),
  'a'.repeat(100),
)
const anything = fc.oneof(
  fc.anything({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value) ?? 'null')),
  hostile,
  fc.constantFrom('a'.repeat(300), 'line\nbreak', -1, 101, 1e300, 2 ** 31),
)

/** A value that fits the schema, or is near it. */
function near(shape: TSchema): fc.Arbitrary<unknown> {
  const schema = shape as Record<string, unknown>
  const choices = (schema.anyOf ?? schema.enum) as readonly (string | { const: unknown })[] | undefined
  if (choices) return fc.constantFrom(...choices.map((choice) => (typeof choice === 'object' ? choice.const : choice)))
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'integer')
    return fc.integer({ min: Number(schema.minimum ?? -1000), max: Number(schema.maximum ?? 1500) })
  if (schema.type === 'number') return fc.double({ noNaN: true, noDefaultInfinity: true })
  if (schema.type === 'array')
    return fc.array(near(schema.items as TSchema), { maxLength: Number(schema.maxItems ?? 4), size: 'small' })
  if (schema.type === 'object') {
    const properties = schema.properties as Record<string, TSchema>
    const requiredKeys = (schema.required ?? []) as string[]
    return fc.record(Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, near(value)])), {
      requiredKeys,
    })
  }
  if (schema.format === 'date-time')
    return fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((at) => at.toISOString())
  if (typeof schema.pattern === 'string') return fc.stringMatching(new RegExp(schema.pattern))
  return fc.oneof(fc.string({ maxLength: Math.min(40, Number(schema.maxLength ?? 40)) }), hostile)
}

const fieldNames = Object.keys(reportedFields) as (keyof typeof reportedFields)[]
const field = fc
  .constantFrom(...fieldNames)
  .chain((name) =>
    fc
      .oneof({ weight: 9, arbitrary: near(reportedFields[name]) }, { weight: 1, arbitrary: fc.constant(null) })
      .map((value): [string, unknown] => [name, value]),
  )
const wrongField = fc.tuple(fc.constantFrom<string>(...fieldNames, 'colour'), anything)
/** Most reports are right, and all fields come to be stored; some have a value that is wrong, or a key that is not known. */
const report = fc
  .tuple(fc.array(field, { maxLength: 8 }), fc.option(wrongField, { freq: 2 }))
  .map(([fields, wrong]) => Object.fromEntries(wrong ? [...fields, wrong] : fields))

const published = JSON.parse(readFileSync('docs/device-messages.json', 'utf8'))
const ajv = new Ajv({ strict: false })
addFormats.default(ajv)
const fitsPublishedSchema = ajv.compile({ ...published, $schema: undefined, $ref: '#/$defs/StatusReport' })

const controlCharacter = /\\u00[01]|\\[bfnrt]/
const hasControlCharacter = (body: unknown) => controlCharacter.test(JSON.stringify(body).replaceAll('\\\\', ''))
/** A key that the service does not know is ignored, whatever its value is. White space at the ends of texts does not count. */
function isRight({ colour: _, ...known }: Record<string, unknown>): boolean {
  const trimmed = JSON.parse(JSON.stringify(known), (_, value) => (typeof value === 'string' ? value.trim() : value))
  return fitsPublishedSchema(trimmed) && !hasControlCharacter(known)
}

const refusalsOf = ({ received }: TestDevice) => received.filter(({ kind }) => kind === 'message-refused')

test('each generated report is stored or refused as the published schema says, and every answer keeps to its own', async () => {
  const reports = fc.sample(report, { numRuns: reportCount, seed })
  const refused = devices.map(() => 0)
  for (let first = 0; first < reports.length; first += deviceCount) {
    const batch = reports.slice(first, first + deviceCount)
    await Promise.all(batch.map((body, i) => devices[i]?.publish('status', body)))
    for (const [i, body] of batch.entries()) if (!isRight(body)) refused[i] = (refused[i] ?? 0) + 1
    harness.clock.advance(pauseMs)
    if ((first / deviceCount) % readEvery === 0) await readAll(first)
  }
  await readAll(reports.length)
  // The answer to the last bad report may still be on its way.
  await expect.poll(() => devices.map((device) => refusalsOf(device).length), { timeout: 10_000 }).toEqual(refused)
  expect(harness.logged.filter(({ level }) => Number(level) >= 50)).toEqual([])
  expect(
    refused.reduce((sum, count) => sum + count, 0),
    'some are refused',
  ).toBeGreaterThan(reportCount / 50)
}, 600_000)

/** The harness checks each answer against its schema. */
async function readAll(turn: number): Promise<void> {
  const device = devices[((turn / deviceCount) % deviceCount) | 0] as TestDevice
  const paths = ['/endpoints', '/rooms', '/rooms/1', `/endpoints/${device.id}`, `/endpoints/${device.id}/config`]
  for (const path of paths) {
    const reply = await org.call('GET', path)
    expect(reply.status, reply.text).toBe(200)
  }
}
