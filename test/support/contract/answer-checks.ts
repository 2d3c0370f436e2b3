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
const ajv = new Ajv({ strict: false, validateFormats: false })
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

/** The operation that a path belongs to; fixed segments win over parameters, as in the router. */
export function operationAt(method: string, path: string) {
  const bare = path.split('?')[0] ?? ''
  const fitting = answers.filter((a) => a.operation.method === method && a.pattern.test(bare))
  return fitting.sort((a, b) => a.operation.path.split('{').length - b.operation.path.split('{').length)[0]
}

/** [contract 1.2] [contract 1.9] [contract 2.1] */
export function checkEveryAnswer(method: string, path: string, reply: ReceivedAnswer): void {
  expect(reply.headers.get('x-request-id'), 'every answer has a request id').toMatch(/^[A-Za-z0-9._-]{1,64}$/)
  if (method === 'HEAD') return void expect(reply.text).toBe('')
  if (reply.status >= 400) {
    expectValid(isError, reply, `${method} ${path}`)
    expect(reply.body.status).toBe(reply.status)
    expect(reply.body.requestId).toBe(reply.headers.get('x-request-id'))
    if (reply.status < 500) expect(reply.body.message).not.toMatch(/SQLITE|select |insert |node_modules|\.[jt]s:/)
    return
  }
  const at = operationAt(method, path)
  if (!at || reply.status === 304 || reply.headers.get('content-type')?.startsWith('text/csv')) return
  const { download, stream } = at.operation
  if (download ?? stream) return void expect(reply.headers.get('content-type')).toBe(download ?? stream)
  expect(reply.status, 'success is 200, always').toBe(200)
  expect(reply.headers.get('content-type')).toBe('application/json')
  expectValid(at.validator(), reply, at.operation.id)
  // Only the settings of an endpoint, users, incidents, channels and jobs hold values that change without a version. [contract 7.9]
  const hashed = /\/(config|users|incidents|channels|jobs)(\/|$)/
  const versionTag = hashed.test(at.operation.path) ? /^"\d+(-[\w-]+)?"$/ : /^"\d+"$/
  if (at.operation.versioned) expect(reply.headers.get('etag')).toMatch(versionTag)
  else if (method === 'GET') expect(reply.headers.get('etag')).toMatch(/^W\/"/)
}

function expectValid(validate: ValidateFunction, { body, text }: ReceivedAnswer, what: string) {
  expect(validate(body), `${what}: ${ajv.errorsText(validate.errors)} in ${text.slice(0, 500)}`).toBe(true)
}
