// Generated requests across all operations: no 5xx, every error documented, every success as its schema says.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { configKeys } from '../../src/contract/device/config-keys.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { operationIds, operations } from '../../src/contract/operations.ts'
import { timeLimits } from '../../src/server/core/time-limits.ts'
import { calls, pathFor } from '../support/contract/calls.ts'
import { type Fixture, newFixture } from '../support/fixture.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { generatedRuns, isFullForm } from '../support/long-form.ts'

const { numRuns: requestCount, ...runs } = generatedRuns({ short: 360, full: 600, long: 10_000 })

let harness: Harness
let fixture: Fixture
beforeAll(async () => {
  // No gateway answers a test.
  harness = await startHarness({}, { limits: { ...timeLimits, gatewayTestMs: 100 } })
})
afterAll(() => harness.close())

const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    '\ud800',
    '😀',
    'مرحبا',
    "'; DROP TABLE rooms; --",
    '__proto__',
    '../..',
    '%00',
    'a'.repeat(10_000),
  ),
)
const integer = fc.oneof(
  fc.integer({ min: 1, max: 6 }),
  fc.integer(),
  fc.constantFrom(0, -1, 2147483647, 2147483648, 1e21),
)
const parameter = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 6 }).map(String) },
  { weight: 1, arbitrary: integer.map(String) },
  { weight: 1, arbitrary: nasty.map((text) => text.toWellFormed()) },
)
const time = fc.oneof(
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((d) => d.toISOString()),
  fc.constantFrom('2026-02-30', '2026-01-01', '2026-01-01T10:00:00+02:00', '2026-01-01T10:00:00 02', 'now', '-1'),
  nasty.map((text) => text.toWellFormed()),
)

/** A value for a property: often one that fits, sometimes anything. */
const valueFor = (name: string): fc.Arbitrary<unknown> => {
  if (name === 'endpointIds') return endpointIds
  if (/Ids$/.test(name)) return fc.array(fc.oneof(integer, nasty), { maxLength: 5 })
  if (/Id$/.test(name)) return fc.oneof(integer, fc.constant(null), nasty)
  if (name === 'scopes') return fc.array(fc.constantFrom('read', 'write', 'admin', 1), { maxLength: 3 })
  if (name === 'role') return fc.constantFrom('owner', 'admin', 'root', null)
  if (name === 'email') return fc.oneof(fc.emailAddress(), nasty)
  if (name === 'expiresAt') return fc.oneof(time, fc.constant(null))
  if (name === 'manage') return fc.oneof(fc.boolean(), fc.constant('yes'))
  if (name === 'config') return config
  return fc.oneof(
    { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 30 }) },
    { weight: 1, arbitrary: nasty },
  )
}
const config = fc.dictionary(
  fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...Object.keys(configKeys)) }, { weight: 1, arbitrary: nasty }),
  fc.oneof(
    fc.boolean(),
    fc.double(),
    fc.integer(),
    nasty,
    fc.constant(null),
    fc.constantFrom('AUTO', 'Europe/Oslo', 0.5),
  ),
  { maxKeys: 4 },
)

/** `ENDPOINT` stands for the one of the fixture. */
const endpointIds = fc.array(
  fc.oneof({ weight: 6, arbitrary: fc.constant('ENDPOINT') }, fc.uuid(), fc.constant(1), nasty),
  { maxLength: 4 },
)

const bodyFor = ({ body }: Operation): fc.Arbitrary<unknown> => {
  if ((body as { type?: string }).type === 'array') return endpointIds
  if ((body as { title?: string }).title === 'DeviceConfig') return config
  const properties = Object.keys((body as { properties?: object } | undefined)?.properties ?? {})
  const fitting = fc.record(Object.fromEntries(properties.map((name) => [name, valueFor(name)])), { requiredKeys: [] })
  const usual = fc.record(Object.fromEntries(properties.map((name) => [name, valueFor(name)])))
  return fc.oneof(
    { weight: 4, arbitrary: usual },
    { weight: 2, arbitrary: fitting },
    { weight: 1, arbitrary: fc.jsonValue() },
    // The body of the table of calls, which succeeds, or none.
    { weight: 1, arbitrary: fc.constant(undefined) },
  )
}

const request = fc.constantFrom(...operationIds).chain((id) => {
  const operation: Operation = operations[id]
  return fc.record({
    id: fc.constant(id),
    params: fc.record(Object.fromEntries(Object.keys(operation.params ?? {}).map((name) => [name, parameter]))),
    query: fc.record(
      Object.fromEntries(
        Object.keys(operation.query ?? {}).map((name) => [name, name === 'from' || name === 'to' ? time : parameter]),
      ),
      { requiredKeys: [] },
    ),
    body: operation.body ? bodyFor(operation) : fc.constant(undefined),
    fixed: fc.boolean(),
    ifMatch: fc.option(fc.constantFrom('"1"', '"2"', '*', 'W/"1"', 'x'), { nil: undefined, freq: 6 }),
    ifNoneMatch: fc.option(fc.constantFrom('"1"', '*', 'x,,'), { nil: undefined, freq: 6 }),
  })
})

test(`${requestCount} generated requests: no 5xx, every answer in its documented shape`, async () => {
  const statuses = new Map<number, number>()
  const succeeded = new Set<string>()
  let sentSoFar = 0
  await fc.assert(
    fc.asyncProperty(request, async ({ id, params, query, body, fixed, ifMatch, ifNoneMatch }) => {
      // Some requests delete what others need: begin again now and then.
      if (sentSoFar++ % 100 === 0) fixture = await newFixture(harness)
      const operation: Operation = operations[id]
      const search = new URLSearchParams(query as Record<string, string>)
      const base = pathFor(fixture, id, fixture.id, fixed ? {} : params).split('?')[0]
      const own = fixed ? pathFor(fixture, id).split('?')[1] : search.toString()
      // The keys of the run itself must survive it.
      if (id === 'keysDelete' && /\/1$/.test(base ?? '')) return
      const sent = fixed && body === undefined ? (calls[id](fixture) as { body?: unknown }).body : body
      // The harness checks shape, headers, schema and request id of every answer.
      const reply = await harness.call(operation.method, `${base}${own ? `?${own}` : ''}`, {
        key: fixture.key,
        ...(operation.body && {
          body:
            sent === undefined
              ? sent
              : JSON.parse(JSON.stringify(sent).replaceAll('"ENDPOINT"', JSON.stringify(fixture.endpoint))),
        }),
        headers: {
          ...(ifMatch && { 'if-match': ifMatch }),
          ...(ifNoneMatch && { 'if-none-match': ifNoneMatch }),
        },
      })
      expect(reply.status, reply.text).toBeLessThan(500)
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
      if (reply.status === 200) succeeded.add(id)
    }),
    { numRuns: requestCount, ...runs, endOnFailure: true },
  )
  // A run in which nearly everything is refused would prove little.
  expect(statuses.get(200) ?? 0).toBeGreaterThan(requestCount / 10)
  expect(statuses.get(400) ?? 0).toBeGreaterThan(requestCount / 10)
  expect(succeeded.size).toBeGreaterThan(operationIds.length * (isFullForm ? 0.6 : 0.35))
}, 240_000)
