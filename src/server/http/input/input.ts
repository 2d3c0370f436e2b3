// Reads and validates the path parameters, query parameters and body of a request. [contract 1.7]
import type { IncomingMessage } from 'node:http'
import { Ajv, type ValidateFunction } from 'ajv'
import type { TProperties, TSchema } from 'typebox'
import type { Violation } from '../../../contract/error.ts'
import type { Operation } from '../../../contract/operation.ts'
import { textProblem } from '../../../contract/text.ts'
import { parseTime } from '../../../contract/time.ts'
import { Failure, invalid } from '../../core/failure.ts'
import { parseInt32 } from '../../core/int32.ts'
import { type NumberText, numberTextOf } from '../../core/number-text.ts'
import { isConfigTimeZone } from '../../core/time/time-zone.ts'
import { isLegacy } from '../paths.ts'
import { acceptsCsv } from './accept-header.ts'
import { dateTimeSentence, maxViolations, violationsOf } from './violations.ts'

export interface RequestInput {
  params: Record<string, unknown>
  query: Record<string, unknown>
  body: unknown
  /** The numbers of the body as they were written, for an operation that preserves that. */
  numberText: NumberText
  csv: boolean
  headOnly: boolean
  legacy: boolean
}

interface RawInput {
  method: string
  headers: { accept?: string | undefined }
  params: unknown
  query: unknown
  body?: unknown
  raw: IncomingMessage
}

const plainDay = /^\d{4}-\d{2}-\d{2}$/

const ajv = new Ajv({ allErrors: true, strict: false, strictNumbers: true })
ajv.addFormat('line', true)
ajv.addFormat('lines', true)
ajv.addFormat('any', true)
ajv.addFormat('password', true)
ajv.addFormat('uuid', true)
ajv.addFormat('int32', true)
ajv.addFormat('date-time', (text) => parseTime(text) !== undefined)
ajv.addFormat('date', (text) => plainDay.test(text) && parseTime(text) !== undefined)
ajv.addFormat('email-address', /^[^@\s]+@[^@\s]+$/)
ajv.addFormat('timezone', isConfigTimeZone)

/** Makes the parsers of an operation once, and returns the function that reads one request. */
export function inputReader(operation: Operation): (raw: RawInput) => RequestInput {
  const readParams = parameterReader(operation.params ?? {}, true)
  const readQuery = parameterReader(operation.query ?? {}, false)
  const readBody = operation.body ? bodyReader(operation.body, operation.bodyAliases ?? {}) : undefined
  const bodyOf = optionalBodyReader(operation)
  const unwrap = unwrapper(operation)
  return (raw) => {
    const violations: Violation[] = []
    const params = readParams(raw.params as Record<string, string>, violations)
    const query = readQuery(raw.query as Record<string, string | string[]>, violations)
    if (violations.length > 0) throw invalid(violations)
    const body = readBody?.(bodyOf(unwrap(raw.body)))
    return {
      params,
      query,
      body,
      // A valid body is small, so parsing it a second time is cheap.
      numberText: numberTextOf(operation.keepsNumberText ? raw.body : undefined, unwrap),
      csv: operation.csv === true && acceptsCsv(raw.headers.accept),
      headOnly: raw.method === 'HEAD',
      legacy: isLegacy(raw.raw),
    }
  }
}

function optionalBodyReader({ optionalBody }: Operation): (sent: unknown) => unknown {
  if (optionalBody === 'any value') return (sent) => (isObject(sent) ? sent : {})
  return optionalBody === 'missing' ? (sent) => sent ?? {} : (sent) => sent
}

/** Removes the object that some clients wrap around a body. Known fields outside of it are refused by name, because they would be lost. */
function unwrapper({ bodyWrapper: wrapper, body }: Operation): (sent: unknown) => unknown {
  if (wrapper === undefined) return (sent) => sent
  const { properties = {} } = body as { properties?: object }
  return (sent) => {
    if (!isObject(sent) || !Object.hasOwn(sent, wrapper)) return sent
    const outside = Object.keys(sent).filter((name) => Object.hasOwn(properties, name))
    if (outside.length > 0) throw invalid(outside.map((field) => ({ field, error: `must be inside ${wrapper}` })))
    if (!isObject(sent[wrapper])) throw invalid([{ field: wrapper, error: 'must be an object' }])
    return sent[wrapper]
  }
}

type Parse = (text: string) => { value: unknown } | string

interface Parameter {
  type?: string
  format?: string
  enum?: readonly string[]
  /** A date without a time stays a text. */
  plainDays?: boolean
  /** The parameter is a list, and is given once for each item. */
  maxItems?: number
}

const parserOf = (shape: TSchema): Parse => {
  const { type, format, enum: words, plainDays } = shape as Parameter
  if (words) return (text) => (words.includes(text) ? { value: text } : `must be one of ${words.join(', ')}`)
  if (type === 'integer') {
    return (text) => {
      const value = parseInt32(text)
      return value === undefined ? 'must be a plain integer from -2147483648 to 2147483647' : { value }
    }
  }
  if (type === 'boolean') {
    return (text) => (text === 'true' || text === 'false' ? { value: text === 'true' } : 'must be true or false')
  }
  if (format === 'date-time') {
    return (text) => {
      const value = parseTime(text)
      if (value === undefined) return dateTimeSentence
      return { value: plainDays && plainDay.test(text) ? text : value }
    }
  }
  return (text) => ({ value: text })
}

function parameterReader(shapes: TProperties, areRequired: boolean) {
  const readers = Object.entries(shapes).map(([name, shape]) => ({
    name,
    parse: parserOf(shape),
    maxItems: (shape as Parameter).maxItems,
    required: areRequired || (shape as { required?: boolean }).required === true,
  }))
  return (given: Record<string, string | string[] | undefined>, violations: Violation[]): Record<string, unknown> => {
    const values: Record<string, unknown> = {}
    for (const { name, parse, maxItems, required } of readers) {
      const text = given[name]
      if (text === undefined) {
        if (required) violations.push({ field: name, error: 'is required' })
        continue
      }
      if (maxItems !== undefined) {
        const items = typeof text === 'string' ? [text] : text
        if (items.length > maxItems) violations.push({ field: name, error: `must be given at most ${maxItems} times` })
        else values[name] = items
        continue
      }
      const parsed = typeof text === 'string' ? parse(text) : 'must be given once'
      if (typeof parsed === 'string') violations.push({ field: name, error: parsed })
      else values[name] = parsed.value
    }
    return values
  }
}

export function bodyReader(shape: TSchema, aliases: Readonly<Record<string, string>>) {
  // The validator is compiled for the first body: compiling all of them would make every start longer.
  let validate: ValidateFunction | undefined
  return (sent: unknown): unknown => {
    if (sent === undefined) {
      throw new Failure('INVALID_ARGUMENT', 'a JSON body is required.', {
        violations: [{ field: 'body', error: 'is required' }],
      })
    }
    const violations: Violation[] = []
    const body = isObject(sent)
      ? tidyObject(sent, shape, aliases, '', violations)
      : Array.isArray(sent)
        ? tidyList(sent, shape, 'body', violations)
        : sent
    if (violations.length > 0) throw invalid(violations)
    validate ??= ajv.compile(shape)
    if (!validate(body)) throw invalid(violationsOf(validate.errors ?? [], 'body'))
    return body
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Copies the known keys and trims texts. A closed shape copies unknown keys too, so that validation names a typing error. [contract 1.7] */
function tidyObject(
  sent: Record<string, unknown>,
  shape: TSchema,
  aliases: Readonly<Record<string, string>>,
  path: string,
  violations: Violation[],
): Record<string, unknown> {
  const { properties, additionalProperties } = shape as {
    properties?: Record<string, TSchema>
    additionalProperties?: boolean
  }
  if (!properties) return sent
  const tidied: Record<string, unknown> = {}
  for (const [name, shape] of Object.entries(properties)) {
    const alias = Object.keys(aliases).find((a) => aliases[a] === name && Object.hasOwn(sent, a))
    const value = Object.hasOwn(sent, name) ? sent[name] : alias && sent[alias]
    if (value === undefined) continue
    tidied[name] = tidyValue(value, shape, path + name, violations)
  }
  if (additionalProperties !== false) return tidied
  return { ...firstUnknown(sent, properties), ...tidied }
}

/** Returns as many unknown keys as an answer lists. */
function firstUnknown(sent: Record<string, unknown>, properties: object): Record<string, unknown> {
  const unknown: [string, unknown][] = []
  for (const name of Object.keys(sent)) {
    if (Object.hasOwn(properties, name)) continue
    unknown.push([name, sent[name]])
    if (unknown.length === maxViolations) break
  }
  return Object.fromEntries(unknown)
}

function tidyValue(value: unknown, shape: TSchema, field: string, violations: Violation[]): unknown {
  if (typeof value === 'string') return tidyText(value, formatOf(shape), field, violations)
  if (Array.isArray(value)) return tidyList(value, shape, field, violations)
  if (!isObject(value)) return value
  const named = namedValuesOf(shape)
  return named
    ? tidyNamedValues(value, named, field, violations)
    : tidyObject(value, shape, {}, `${field}.`, violations)
}

/** An object whose names the caller chooses. */
interface NamedValues {
  readonly propertyNames: { readonly pattern: string; readonly description: string }
  readonly additionalProperties: TSchema
  readonly maxProperties: number
}

/** The shape of an object with chosen names, which may also be null. */
function namedValuesOf(shape: TSchema): NamedValues | undefined {
  const { anyOf = [shape] } = shape as { anyOf?: TSchema[] }
  return anyOf.find((one) => 'propertyNames' in one) as NamedValues | undefined
}

/** Refuses an object with too many names without looking at its values, and wrong names in words that people understand. */
function tidyNamedValues(
  sent: Record<string, unknown>,
  { propertyNames, additionalProperties, maxProperties }: NamedValues,
  field: string,
  violations: Violation[],
): Record<string, unknown> {
  const entries = Object.entries(sent)
  if (entries.length > maxProperties) {
    violations.push({ field, error: `must have at most ${maxProperties} names` })
    return {}
  }
  const isName = new RegExp(propertyNames.pattern)
  for (const [name] of entries.filter(([name]) => !isName.test(name))) {
    const error = `must have a name of ${propertyNames.description}`
    violations.push({ field: `${field}.${name.slice(0, 64).toWellFormed()}`, error })
  }
  return Object.fromEntries(
    entries.map(([name, value]) => [name, tidyValue(value, additionalProperties, `${field}.${name}`, violations)]),
  )
}

/** Refuses a list that is too long without looking at its items, so the refusal costs nothing. Items are tidied if they are objects or texts of people. */
function tidyList(value: unknown[], shape: TSchema, field: string, violations: Violation[]): unknown[] {
  const { items, maxItems = Number.POSITIVE_INFINITY } = listOf(shape)
  if (value.length > maxItems) {
    violations.push({ field, error: `must have at most ${maxItems} items` })
    return []
  }
  const hasTexts = items && ('properties' in items || ['line', 'lines'].includes(String(formatOf(items))))
  return hasTexts ? value.map((item, i) => tidyValue(item, items, `${field}[${i}]`, violations)) : value
}

interface ListShape {
  readonly items?: TSchema
  readonly maxItems?: number
}

/** The shape of a list that may also be null. */
function listOf(shape: TSchema): ListShape {
  const { anyOf = [shape] } = shape as { anyOf?: TSchema[] }
  return (anyOf.find((one) => 'items' in one) ?? shape) as ListShape
}

/** The format of a shape that may also be null. */
const formatOf = (shape: TSchema): string | undefined => {
  const { format, anyOf } = shape as { format?: string; anyOf?: TSchema[] }
  return format ?? anyOf?.map(formatOf).find((f) => f !== undefined)
}

function tidyText(text: string, format: string | undefined, field: string, violations: Violation[]): string {
  if (format === 'any') return text
  const error = textProblem(text, format === 'lines')
  if (error !== undefined) violations.push({ field, error })
  // Spaces at the ends of a password belong to it.
  return format === 'password' ? text : text.trim()
}
