// The checks of every answer that a test gets: its headers, and its body against the schema of its operation.
import { Ajv, type ValidateFunction } from 'ajv'
import { expect } from 'vitest'
import { ErrorBody } from '../../../src/contract/error.ts'
import { operationList } from '../../../src/contract/operations.ts'
import { routesOf } from '../../../src/server/http/paths.ts'

interface ReceivedAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: its shape is what is checked here
  readonly body: any
}

/** A schema that also refuses what it does not mention, so that an undocumented key fails a test. */
const ajv = new Ajv({ strict: false, validateFormats: false, code: { optimize: false } })
const closed = (schema: object): object =>
  JSON.parse(JSON.stringify(schema), (_, value) =>
    value &&
    typeof value === 'object' &&
    value.type === 'object' &&
    value.properties &&
    Object.keys(value.properties).length > 0
      ? { additionalProperties: false, ...value }
      : value,
  )
const isError = ajv.compile(closed(ErrorBody))
const answers = operationList.flatMap((operation) => {
  let compiled: ValidateFunction | undefined
  // Compiling the schemas of all operations takes a second of CPU, and most test files call few of them.
  const validator = (): ValidateFunction => {
    compiled ??= ajv.compile(closed(operation.response))
    return compiled
  }
  const patternOf = (route: string) => new RegExp(`^/+(?:api/)?${route.slice(1).replaceAll(/:\w+/g, '[^/]+')}$`)
  return routesOf(operation).map((route) => ({ operation, validator, pattern: patternOf(route) }))
})

/** By method. Fixed segments win over parameters, as in the router, so they come first. */
const answersOf = Map.groupBy(
  answers.toSorted((a, b) => a.operation.path.split('{').length - b.operation.path.split('{').length),
  ({ operation }) => operation.method as string,
)

/** The operation that a path belongs to. */
export function operationAt(method: string, path: string) {
  const bare = path.split('?')[0] ?? ''
  return answersOf.get(method)?.find(({ pattern }) => pattern.test(bare))
}

/** Throws unless a text matches. It calls `expect` only if it does not: tens of thousands of answers are checked. */
function expectMatch(text: string | null | undefined, pattern: RegExp, message?: string): void {
  if (!pattern.test(text ?? '')) expect(text, message).toMatch(pattern)
}

function expectSame(value: unknown, expected: unknown, message?: string): void {
  if (value !== expected) expect(value, message).toBe(expected)
}

/** [contract 1.2] [contract 1.9] [contract 2.1] */
export function checkEveryAnswer(method: string, path: string, reply: ReceivedAnswer): void {
  expectMatch(reply.headers.get('x-request-id'), /^[A-Za-z0-9._-]{1,64}$/, 'every answer has a request id')
  if (method === 'HEAD') return void expectSame(reply.text, '')
  if (reply.status >= 400) {
    expectValid(isError, reply, `${method} ${path}`)
    expectSame(reply.body.status, reply.status)
    expectSame(reply.body.requestId, reply.headers.get('x-request-id'))
    if (reply.status < 500) expectMatch(reply.body.message, /^(?!.*(SQLITE|select |insert |node_modules|\.[jt]s:))/s)
    return
  }
  const at = operationAt(method, path)
  if (!at || reply.status === 304 || reply.headers.get('content-type')?.startsWith('text/csv')) return
  const { download, stream } = at.operation
  // A type can have parameters, such as a version.
  const type = reply.headers.get('content-type')?.split(';')[0]
  if (download ?? stream) return void expectSame(type, download ?? stream)
  expectSame(reply.status, 200, 'success is 200, always')
  expectSame(reply.headers.get('content-type'), 'application/json')
  expectValid(at.validator(), reply, at.operation.id)
  // Only the settings of an endpoint, users, incidents, channels, jobs, recurring jobs, items of gateways and sources hold values that change without a version. [contract 7.9]
  const hashed = /\/(config|users|incidents|channels|jobs|recurring_jobs|gateways|sources)(\/|$)/
  const versionTag = hashed.test(at.operation.path) ? /^"\d+(-[\w-]+)?"$/ : /^"\d+"$/
  if (at.operation.versioned) expectMatch(reply.headers.get('etag'), versionTag)
  else if (method === 'GET') expectMatch(reply.headers.get('etag'), /^W\/"/)
}

function expectValid(validate: ValidateFunction, { body, text }: ReceivedAnswer, what: string): void {
  if (!validate(body)) expect.fail(`${what}: ${ajv.errorsText(validate.errors)} in ${text.slice(0, 500)}`)
}
