// The limits of request bodies: each is large enough for the longest valid body, and the contract lists them. [contract 7.1]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EnrolRequest } from '../../src/contract/device/protocol.ts'
import { maxCustomFields } from '../../src/contract/fleet/custom-fields.ts'
import {
  hugeBodyBytes,
  jobBodyBytes,
  largeBodyBytes,
  mediumBodyBytes,
  smallBodyBytes,
  sourceBodyBytes,
} from '../../src/contract/operation.ts'
import { operationList } from '../../src/contract/operations.ts'
import { SignIn } from '../../src/contract/people/session.ts'

interface Schema {
  readonly type?: string
  readonly const?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly maxItems?: number
  readonly maxLength?: number
  readonly format?: string
  readonly propertyNames?: object
  readonly maxProperties?: number
  readonly additionalProperties?: Schema | boolean
}

const longest = (texts: readonly string[]): string => texts.reduce((a, b) => (b.length > a.length ? b : a))

/** As many custom fields as a resource can have get a text, and the others of the request are cleared. */
const longestCustomFields = (text: Schema, count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      String(i).padStart(40, '_'),
      i < maxCustomFields ? longestValue(text) : null,
    ]),
  )

/** The longest value that a schema allows. Endpoint ids have no limit in their schema; they are UUIDs. */
function longestValue(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return longest(schema.enum)
  if (schema.anyOf) return JSON.parse(longest(schema.anyOf.map((one) => JSON.stringify(longestValue(one)))))
  switch (schema.type) {
    case 'object':
      if (schema.propertyNames && schema.maxProperties !== undefined) {
        return longestCustomFields(schema.additionalProperties as Schema, schema.maxProperties)
      }
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, longestValue(inner)]),
      )
    case 'array':
      return Array(schema.maxItems).fill(longestValue(schema.items ?? {}))
    case 'string':
      if (schema.format === 'date-time') return '2026-03-02T09:15:00.000000000+00:00'
      return schema.maxLength === undefined ? 'x'.repeat(36) : '😀'.repeat(schema.maxLength)
    case 'integer':
      return -2147483648
    case 'number':
      return -Number.MIN_VALUE * 1.2345678901234567
    case 'null':
      return null
    default:
      return false
  }
}

/** Indented, and with every character beyond ASCII escaped, as Python's json.dumps does. */
const wordy = (value: unknown): string =>
  JSON.stringify(value, null, 4).replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

test('every operation reads the longest body that is valid for it', () => {
  for (const { id, body, bodyLimitBytes, bodyWrapper } of operationList) {
    if (!body) continue
    const value = longestValue(body as Schema)
    const sent = wordy(bodyWrapper === undefined ? value : { [bodyWrapper]: value })
    expect(sent.length, id).toBeLessThanOrEqual(bodyLimitBytes)
  }
})

test('enrolment and sign-in read the longest body that is valid for them', () => {
  expect(wordy(longestValue(EnrolRequest)).length).toBeLessThanOrEqual(smallBodyBytes)
  for (const [name, schema] of Object.entries(SignIn.properties)) {
    expect(wordy({ [name]: longestValue(schema) }).length).toBeLessThanOrEqual(smallBodyBytes)
  }
})

test('only the operation whose answer shows numbers as they were written keeps their text [contract 4.endpointsApplyConfig]', () => {
  const keeping = operationList.filter(({ keepsNumberText }) => keepsNumberText)
  expect(keeping.map(({ id }) => id)).toEqual(['endpointsApplyConfig'])
})

test('docs/contract.md lists the limits of all operations', () => {
  const rows = readFileSync(join(import.meta.dirname, '../../docs/contract.md'), 'utf8').split('\n')
  for (const limitBytes of [smallBodyBytes, mediumBodyBytes, hugeBodyBytes, jobBodyBytes, sourceBodyBytes]) {
    const row = rows.find((line) => line.endsWith(`| ${limitBytes / 1024} KiB |`))
    const listed = Array.from(row?.matchAll(/`(\w+)`/g) ?? [], ([, id]) => id)
    const limited = operationList
      .filter(({ body, bodyLimitBytes }) => body && bodyLimitBytes === limitBytes)
      .map(({ id }) => id)
    expect(listed, `${limitBytes / 1024} KiB`).toEqual(limited.sort())
  }
  expect(rows.filter((line) => line.startsWith('| every other operation') && line.endsWith('| 64 KiB |'))).toHaveLength(
    1,
  )
  const known = [smallBodyBytes, mediumBodyBytes, largeBodyBytes, hugeBodyBytes, jobBodyBytes, sourceBodyBytes]
  const others = operationList.filter(({ bodyLimitBytes }) => !known.includes(bodyLimitBytes ?? smallBodyBytes))
  expect(others.map(({ id }) => id)).toEqual([])
})
