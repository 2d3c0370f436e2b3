// Checks a parsed file against the shape of the document, and names the place of each mistake.

import type { TSchema } from 'typebox'
import Format from 'typebox/format'
import Value from 'typebox/value'
import { customFieldName } from '../contract/fleet/custom-fields.ts'
import { roomTagPattern } from '../contract/jobs/job-request.ts'
import { textProblem } from '../contract/text.ts'
import { isTimeZone, parseTime } from '../contract/time.ts'
import { timeOfDayPattern } from '../contract/weekly-hours.ts'
import { OrganisationDocument, siteTimeZoneFormat, variableNamePattern } from './document.ts'
import { escaped } from './json-pointer.ts'
import type { FindPlace, Problem } from './plan.ts'

/** A file with more mistakes is probably not a document. */
const maxProblems = 100

export type CheckedDocument = { readonly document: OrganisationDocument } | { readonly problems: readonly Problem[] }

export function checkDocument(value: unknown, findPlace: FindPlace = () => undefined): CheckedDocument {
  registerFormats()
  if (Value.Check(OrganisationDocument, value)) return { document: value }
  const problems: Problem[] = []
  const isWrong = (pointer: string, message: string) => {
    const place = findPlace(pointer)
    problems.push({ message, pointer, ...(place && { place }) })
    return problems.length >= maxProblems
  }
  findMistakes(OrganisationDocument as unknown as Shape, value, '', isWrong)
  return { problems }
}

/** The shapes of the contract have formats of their own. */
function registerFormats(): void {
  Format.Set('line', (text) => textProblem(text, false) === undefined && text.trim() !== '')
  Format.Set('lines', (text) => textProblem(text, true) === undefined && text.trim() !== '')
  Format.Set('email-address', (text) => /^[^@\s]+@[^@\s]+$/.test(text))
  // A device config can have one zone that does not exist. [contract 5.3]
  Format.Set('timezone', (text) => text === 'Africa/Istanbul' || isTimeZone(text))
  Format.Set(siteTimeZoneFormat, isTimeZone)
  Format.Set('date-time', (text) => parseTime(text) !== undefined)
}

interface Shape extends TSchema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Shape
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
}
/** Returns true if enough mistakes were found. */
type Report = (pointer: string, message: string) => boolean

/** Goes down to the smallest value that is wrong, so each entry has all of its mistakes named. Returns true if enough were found. */
function findMistakes(shape: Shape, value: unknown, pointer: string, report: Report): boolean {
  let found = false
  const note: Report = (at, message) => {
    found = true
    return report(at, message)
  }
  if (shape.type === 'array' && Array.isArray(value) && shape.items) {
    for (const [i, item] of value.entries()) {
      if (findMistakes(shape.items, item, `${pointer}/${i}`, note)) return true
    }
  } else if (shape.properties && isObject(value)) {
    for (const name of shape.required ?? []) {
      if (!Object.hasOwn(value, name) && note(pointer, missingText(pointer, name))) return true
    }
    for (const [name, item] of Object.entries(value)) {
      const at = `${pointer}/${escaped(name)}`
      const known = Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined
      if (known ? findMistakes(known, item, at, note) : note(at, unknownKey(name, shape.properties))) return true
    }
  }
  if (found) return false
  const mistake = pointer === '' && !isObject(value) ? noDocument : mistakeIn(shape, value)
  return mistake === undefined ? false : report(pointer + mistake.pointer, mistake.message)
}

const noDocument = {
  pointer: '',
  message: 'A document is a map of keys, such as organisation and rooms. "export" writes one to start from.',
}

const missingText = (pointer: string, name: string) =>
  pointer === '' && name === 'organisation'
    ? 'organisation is missing. Write the identifier that "context list" shows.'
    : `${name} is missing.`

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const maxShownKeys = 30

function unknownKey(name: string, properties: object): string {
  const known = Object.keys(properties).slice(0, maxShownKeys).join(', ')
  return `Unknown key ${shortened(name)}. Known keys: ${known}.`
}

const maxShownLength = 60
const shortened = (text: string): string => (text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text)

/** The first mistake of a value that has no parts with mistakes of their own. */
function mistakeIn(shape: Shape, value: unknown): { pointer: string; message: string } | undefined {
  const errors = Value.Errors(shape, value).filter(
    ({ keyword, params }) => keyword !== 'anyOf' && !(keyword === 'type' && isNullType(params)),
  )
  const [first] = errors
  if (!first) return Value.Check(shape, value) ? undefined : { pointer: '', message: 'The value is not valid.' }
  const atRoot = errors.filter(({ instancePath }) => instancePath === '')
  const types = atRoot.filter(({ keyword }) => keyword === 'type')
  const specific = errors.find(({ keyword }) => !['type', 'boolean', 'additionalProperties'].includes(keyword)) ?? first
  if (types.length > 0 && types.length === atRoot.length && specific.instancePath === '') {
    const alternatives = isSecretShape(shape) ? ['{env: NAME}'] : types.map(({ params }) => typeText(params))
    const wanted = [...new Set(alternatives)].join(' or ')
    const isBare = wanted === 'a text' && ['number', 'boolean'].includes(typeof value)
    return { pointer: '', message: `The value must be ${wanted}${isBare ? ': write it in quotes' : ''}.` }
  }
  return { pointer: specific.instancePath, message: sentenceOf(specific) }
}

/** Also a secret that can be cleared. */
const isSecretShape = (shape: Shape): boolean =>
  shape.properties?.env !== undefined || (shape.anyOf ?? []).some(isSecretShape)

const isNullType = (params: object) => (params as { type?: unknown }).type === 'null'
const typeText = (params: object): string => {
  const { type } = params as { type?: string | string[] }
  const names: Readonly<Record<string, string>> = {
    string: 'a text',
    integer: 'a whole number',
    number: 'a number',
    boolean: 'true or false',
    array: 'a list',
    object: 'a map of keys',
  }
  return [type ?? []]
    .flat()
    .map((name) => names[name] ?? name)
    .join(' or ')
}

const formatTexts: Readonly<Record<string, string>> = {
  line: 'must be a text of one line, without control characters',
  lines: 'must be a text without control characters',
  date: 'must be a day of the calendar, such as 2026-05-31',
  'date-time': 'must be a time, such as 2026-05-31T08:00:00Z',
  'email-address': 'must be an e-mail address',
  timezone: 'must be a time zone, such as Europe/Oslo',
  [siteTimeZoneFormat]: 'must be a time zone, such as Europe/Oslo',
}

const patternTexts: Readonly<Record<string, string>> = {
  [timeOfDayPattern]: 'The value must be a time of day, such as 20:00.',
  [roomTagPattern]: 'A tag must have 1 to 40 of a-z, 0-9 and -.',
  [variableNamePattern]: 'The value must be the name of a variable, such as HOOK_URL.',
  [`^${customFieldName}$`]: 'The name of a field must have 1 to 40 of a-z, 0-9 and _.',
}

function sentenceOf({ keyword, params, message }: ReturnType<typeof Value.Errors>[number]): string {
  const { format, allowedValues, pattern } = params as {
    format?: string
    allowedValues?: readonly unknown[]
    pattern?: string | RegExp
  }
  if (keyword === 'pattern' && patternTexts[String(pattern)]) return patternTexts[String(pattern)] as string
  if (keyword === 'format' && format !== undefined && formatTexts[format]) return `The value ${formatTexts[format]}.`
  if (keyword === 'enum' && allowedValues) return `The value must be one of ${allowedValues.join(', ')}.`
  if (keyword === 'boolean' || keyword === 'additionalProperties') return 'The key is not known here.'
  return `The value ${message}.`
}
