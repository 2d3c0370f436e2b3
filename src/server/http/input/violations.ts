// Turns validation errors into sentences that say what to do. [contract 2.1]
import type { ErrorObject } from 'ajv'
import type { Violation } from '../../../contract/error.ts'

export const maxViolations = 50
/** A body may have many thousands of errors. Only the first of them are compared with each other. */
const maxComparedErrors = 1000

export function violationsOf(errors: readonly ErrorObject[], whole: string): Violation[] {
  const violations = new Map<string, Violation>()
  let pathsWithParts: ReadonlySet<string> | undefined
  for (const error of errors) {
    if (!isUseful(error)) continue
    if (isOneOfSeveralTypes(error)) {
      pathsWithParts ??= pathsWithWrongParts(errors.slice(0, maxComparedErrors).filter(isUseful))
      if (pathsWithParts.has(error.instancePath)) continue
    }
    const violation = { field: fieldOf(error, whole), error: sentenceOf(error) }
    if (!violations.has(violation.field)) violations.set(violation.field, violation)
    if (violations.size === maxViolations) break
  }
  return [...violations.values()]
}

/** A value that may be null fails twice; the sentence about its own shape is the useful one. */
const isUseful = ({ keyword, params }: ErrorObject) =>
  keyword !== 'anyOf' && !(keyword === 'type' && params.type === 'null')

/** For a value that may have several types, an error about one of its parts is more useful than "must be another type". */
const isOneOfSeveralTypes = ({ keyword, schemaPath }: ErrorObject) =>
  keyword === 'type' && schemaPath.includes('/anyOf/')

/** The paths of values of which a part is wrong or missing. */
function pathsWithWrongParts(errors: readonly ErrorObject[]): ReadonlySet<string> {
  const paths = new Set<string>()
  for (const { keyword, instancePath } of errors) {
    let end = keyword === 'required' ? instancePath.length : instancePath.lastIndexOf('/')
    for (; end > 0; end = instancePath.lastIndexOf('/', end - 1)) {
      const path = instancePath.slice(0, end)
      if (paths.has(path)) break
      paths.add(path)
    }
  }
  return paths
}

function fieldOf(error: ErrorObject, whole: string): string {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (error.keyword === 'required') path.push(error.params.missingProperty)
  if (error.keyword === 'additionalProperties') path.push(error.params.additionalProperty)
  if (path.length === 0) return whole
  return path.reduce(
    (field, part) => (/^\d+$/.test(part) ? `${field}[${part}]` : field ? `${field}.${part}` : part),
    '',
  )
}

const quantity = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

const articles: Record<string, string> = { object: 'an object', array: 'an array', integer: 'an integer' }

function sentenceOf({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'type':
      return `must be ${articles[params.type] ?? `a ${params.type}`}`
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return 'is not a known key'
    case 'minLength':
      return `must have at least ${quantity(params.limit, 'character')}`
    case 'maxLength':
      return `must have at most ${quantity(params.limit, 'character')}`
    case 'minItems':
      return `must have at least ${quantity(params.limit, 'item')}`
    case 'maxItems':
      return `must have at most ${quantity(params.limit, 'item')}`
    case 'minProperties':
      return 'must have at least one of the known keys'
    case 'minimum':
      return `must be at least ${params.limit}`
    case 'maximum':
      return `must be at most ${params.limit}`
    case 'enum':
      return `must be one of ${params.allowedValues.join(', ')}`
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`
    case 'format':
      return formats[params.format as string] ?? `must be a ${params.format}`
    default:
      return message ?? 'is not valid'
  }
}

export const dateTimeSentence = 'must be a date and time such as 2026-03-02T09:15:00Z'

const formats: Record<string, string> = {
  'date-time': dateTimeSentence,
  date: 'must be a day such as 2026-03-02',
  'email-address': 'must be an e-mail address',
  timezone: 'must be a time zone such as Europe/Oslo',
}
