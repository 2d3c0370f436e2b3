// Every request in the documents, and every example in openapi.json, is valid to a strict validator that knows openapi.json only.
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { default as addFormats } from 'ajv-formats'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: { readonly type?: string }
  readonly example?: unknown
}
type Media = Record<string, { readonly schema: object; readonly example?: unknown }>
interface DocumentedOperation {
  readonly operationId: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Media; readonly required: boolean }
  readonly responses: Record<string, { readonly content?: Media }>
}
const document = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8')) as {
  readonly paths: Record<string, Record<string, DocumentedOperation>>
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(document, 'openapi.json')

/** Returns what is wrong with a value. References in the schema lead into the document. */
function problemsOf(schema: object, value: unknown): string | undefined {
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/'))
  return ajv.validate(absolute, value) ? undefined : ajv.errorsText()
}

/** A parameter is text in a URL; a validator converts it to the type of its schema. */
const parsed = ({ schema: { type } }: Parameter, text: string): unknown =>
  type === 'integer' ? Number(text) : type === 'boolean' ? JSON.parse(text) : text

interface DocumentedRequest {
  readonly method: string
  readonly url: URL
  readonly body: string | undefined
}

function problemsOfRequest({ method, url, body }: DocumentedRequest): (string | undefined)[] {
  const templates = Object.keys(document.paths).sort((a, b) => a.split('{').length - b.split('{').length)
  const segments = url.pathname.split('/')
  const template = templates.find((path) => {
    const parts = path.split('/')
    return parts.length === segments.length && parts.every((part, i) => part.startsWith('{') || part === segments[i])
  })
  const operation = template && document.paths[template]?.[method.toLowerCase()]
  if (!operation) return [`openapi.json has no ${method} ${url.pathname}`]
  const inPath = (name: string) => segments[template.split('/').indexOf(`{${name}}`)] ?? ''
  const known = operation.parameters.map((p) => p.name)
  const schema = operation.requestBody?.content['application/json']?.schema
  return [
    ...[...url.searchParams.keys()].filter((name) => !known.includes(name)).map((name) => `${name} is unknown`),
    ...operation.parameters.map((p) => {
      const text = p.in === 'path' ? inPath(p.name) : p.in === 'query' ? url.searchParams.get(p.name) : null
      if (text === null) return p.required ? `${p.name} is missing` : undefined
      const problem = problemsOf(p.schema, parsed(p, text))
      return problem && `${p.name}: ${problem}`
    }),
    schema && (body !== undefined || operation.requestBody?.required)
      ? problemsOf(schema, JSON.parse(body ?? 'null'))
      : undefined,
    !schema && body !== undefined ? 'takes no body' : undefined,
  ]
}

/** Values for the variables of the documents. */
const variables = {
  ROOMKEEPER: 'http://127.0.0.1:8080',
  ROOMKEEPER_URL: 'http://127.0.0.1:8080',
  ROOMKEEPER_ORG: 'LXJ45kN',
  ROOMKEEPER_KEY: 'rk_x',
  ORG: 'LXJ45kN',
  KEY: 'rk_x',
  ID: '0c4be1f2-77a4-4d0e-8a55-6f1c2b9d3e20',
  OPERATION: '5a2f4f3e-8f2c-4f5f-9b0e-3f1f6f0c7a11',
  REPORT: 'ABCD-2345',
  GATEWAY: '51cd99ad-570a-4218-b983-fe95d09fe384',
}

/** Lets the shell read the commands as it would, with functions in the place of the programs that print their arguments. */
function requestsIn(file: string): DocumentedRequest[] {
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/\\\n\s*/g, ' ')
  const blocks = [...text.matchAll(/^```sh[^\n]*\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
  const commands = blocks.flatMap((block) => block.match(/\b(?:api|curl) [^|>)\n]*\/v1\/orgs\/[^|>)\n]*/g) ?? [])
  if (commands.length === 0) return []
  const show = 'show() { printf "%s\\0" "$@"; printf "\\n"; }; api() { show "$@"; }; curl() { show "$@"; }'
  const printed = execFileSync('bash', ['--norc', '-c', [show, ...commands].join('\n')], {
    env: variables,
    encoding: 'utf8',
  })
  const lines = printed.trimEnd().split('\n')
  expect(lines).toHaveLength(commands.length)
  return lines.map((line) => {
    const words = line.split('\0')
    const after = (option: string) => (words.includes(option) ? words[words.indexOf(option) + 1] : undefined)
    const body = after('-d')
    const url = new URL(words.find((word) => word.includes('/v1/orgs/')) ?? '')
    return { method: after('-X') ?? (body === undefined ? 'GET' : 'POST'), url, body }
  })
}

const files = ['README.md', ...globSync('docs/**/*.md', { cwd: root })].filter((file) => requestsIn(file).length > 0)

test.each(files)('every request in %s is valid', (file) => {
  for (const request of requestsIn(file)) {
    const problems = problemsOfRequest(request).filter((problem) => problem !== undefined)
    expect(problems, `${request.method} ${request.url}`).toEqual([])
  }
})

test('the documents have requests with a date, with a body and with ids', () => {
  const all = files.flatMap(requestsIn)
  expect(all.length).toBeGreaterThan(15)
  expect(all.some(({ url }) => url.searchParams.get('from') === '2026-01-01')).toBe(true)
  expect(all.filter(({ body }) => body !== undefined).length).toBeGreaterThan(5)
})

test('the validator is strict: it refuses wrong dates, ids, numbers, names and bodies', () => {
  const logs = (query: string) => ({
    method: 'GET',
    url: new URL(`http://x/v1/orgs/x/audit/logs?${query}`),
    body: undefined,
  })
  const region = (body: string | undefined) => ({ method: 'POST', url: new URL('http://x/v1/orgs/x/regions'), body })
  const faulty = [
    logs('from=2026-13-01&to=2026-01-01'),
    logs('from=yesterday&to=2026-01-01'),
    logs('from=2026-01-01'),
    logs('from=2026-01-01&to=2026-01-02&pageSize=x'),
    logs('from=2026-01-01&to=2026-01-02&until=2026-01-03'),
    { method: 'GET', url: new URL('http://x/v1/orgs/x/endpoints/7'), body: undefined },
    { method: 'PATCH', url: new URL('http://x/v1/orgs/x/regions'), body: '{}' },
    region('{"name":7}'),
    region(undefined),
  ]
  for (const request of faulty) {
    expect(
      problemsOfRequest(request).some((problem) => problem !== undefined),
      String(request.url),
    ).toBe(true)
  }
})

test('every example in openapi.json is valid against its schema, formats included', () => {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  for (const { operationId, parameters, requestBody, responses } of operations) {
    const media = [requestBody?.content ?? {}, responses['200']?.content ?? {}].flatMap((content) =>
      Object.values(content),
    )
    for (const { schema, example } of [...parameters, ...media]) {
      if (example !== undefined) expect([operationId, problemsOf(schema, example)]).toEqual([operationId, undefined])
    }
  }
})
