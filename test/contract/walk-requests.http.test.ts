// Walks every operation of the table for what is decided before its rule runs: the gate, the path and the body. No database is
// involved. In the short form each operation gets a few cases of each kind, and the operations take the cases in turn.
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationIds } from '../../src/contract/operations.ts'
import { calls, credentialsFor, pathFor, perform } from '../support/contract/calls.ts'
import { type Fixture, newFixture } from '../support/fixture.ts'
import type { Harness } from '../support/harness.ts'
import { sampleOf } from '../support/long-form.ts'
import { codeOf, idsWhere, operationOf, refused, startWalk, turnOf } from './walk-calls.ts'

let harness: Harness
/** For attempts that must leave no trace: each of them proves it. */
let untouched: Fixture
/** Another organisation, whose key may do everything there. */
let stranger: { readonly key: string }
/** Keys of the organisation that lack something. */
let lacking: Readonly<Record<'read' | 'write' | 'readWithoutManage' | 'writeWithoutManage' | 'manage', string>>
beforeAll(async () => {
  harness = await startWalk()
  const org = await harness.newOrg()
  stranger = { key: await org.newKey({ scopes: ['read', 'write'], manage: true }) }
  untouched = await newFixture(harness)
  const [read, write] = [['read'], ['write']] as const
  lacking = {
    read: await untouched.newKey({ scopes: write, manage: true }),
    write: await untouched.newKey({ scopes: read, manage: true }),
    readWithoutManage: await untouched.newKey({ scopes: write }),
    writeWithoutManage: await untouched.newKey({ scopes: read }),
    manage: await untouched.newKey({ scopes: [...read, ...write] }),
  }
})
afterAll(() => harness.close())

const ajv = new Ajv({ strict: false, validateFormats: false, code: { optimize: false } })
const unknownCallers: Record<string, string>[] = [
  {},
  { authorization: 'Bearer nonsense' },
  { authorization: 'Basic eDp5' },
]

describe.each(operationIds)('%s', (id) => {
  const operation = operationOf(id)

  test('without a token is a 401 that says which scheme it wants [contract 2.2] [interface A1]', async () => {
    await refused(untouched, async () => {
      for (const headers of sampleOf(unknownCallers, turnOf(id))) {
        const reply = await perform(harness, untouched, id, { key: false, headers })
        expect(codeOf(reply)).toBe('401 UNAUTHENTICATED')
        expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer /)
      }
    })
  })

  test('with a key that lacks the scope is a 403 that names it [contract 2.2] [interface A3]', async () => {
    const f = untouched
    const key = lacking[operation.scope === 'read' ? 'read' : 'write']
    const reply = await refused(f, () => perform(harness, f, id, { key }))
    expect(codeOf(reply)).toBe('403 PERMISSION_DENIED')
    if (operation.person) {
      expect(reply.body.message).toContain('Sign in as a person')
      return
    }
    expect(reply.body.message).toContain(operation.scope)
    expect(reply.headers.get('www-authenticate')).toContain('error="insufficient_scope"')
  })

  test("with another organisation's key looks like an organisation that does not exist [contract 2.4]", async () => {
    const f = untouched
    const { key } = stranger
    const existing = await refused(f, () => perform(harness, f, id, { key }))
    const missing = await perform(harness, f, id, { key, path: pathFor(f, id, 'Nowhere') })
    expect(existing.status).toBe(404)
    expect(missing.status).toBe(404)
    const { requestId: _, ...body } = existing.body
    expect(body).toEqual({ status: 404, code: 'NOT_FOUND', message: 'Requested resource not found' })
    expect({ ...missing.body, requestId: '' }).toEqual({ ...existing.body, requestId: '' })
    expect([...missing.headers.keys()]).toEqual([...existing.headers.keys()])
  })

  test('its example is valid against its own shapes', () => {
    const { params = {}, query = {}, body, response } = operation.example
    expect(ajv.validate(operation.response, response), ajv.errorsText()).toBe(true)
    if (operation.body) expect(ajv.validate(operation.body, body), ajv.errorsText()).toBe(true)
    for (const [name, shape] of Object.entries(operation.params ?? {})) {
      expect(ajv.validate(shape, params[name]), `${name} ${ajv.errorsText()}`).toBe(true)
    }
    for (const name of Object.keys(query)) expect(Object.keys(operation.query ?? {})).toContain(name)
  })

  test('another method on its path is a 405 that lists those that work [contract 2.2]', async () => {
    const reply = await harness.call('PATCH', pathFor(untouched, id), { key: untouched.key })
    expect(codeOf(reply)).toBe('405 METHOD_NOT_ALLOWED')
    expect(reply.headers.get('allow')?.split(', ')).toContain(operation.method)
  })
})

describe.each(idsWhere((o) => o.manage === true))('%s', (id) => {
  test('with a key that has both scopes but not manage is a 403 [contract 3.5]', async () => {
    const f = untouched
    const reply = await refused(f, () => perform(harness, f, id, { key: lacking.manage }))
    expect(codeOf(reply)).toBe('403 PERMISSION_DENIED')
    expect(reply.body.message).toContain('manage')
  })
})

const withIds = idsWhere((o) => o.params !== undefined)
describe.each(withIds)('%s', (id) => {
  const { params = {} } = operationOf(id)

  test('refuses what is not a plain int32 and names the parameter [contract 1.5]', async () => {
    const f = untouched
    const at = (name: string, value: string | number) =>
      perform(harness, f, id, { path: pathFor(f, id, f.id, { [name]: value }) })
    const malformed = ['1e3', '01', '2147483648', '-2147483649', '-0', '+1', '1.0', ' 1', 'x', '٣', '9'.repeat(300)]
    await refused(f, async () => {
      for (const [name, shape] of Object.entries(params)) {
        const isInteger = (shape as { type?: string }).type === 'integer'
        for (const value of sampleOf(malformed, turnOf(id), 2)) {
          const reply = await at(name, value)
          expect(codeOf(reply), `${name}=${value}`).toBe(isInteger ? '400 INVALID_ARGUMENT' : '404 NOT_FOUND')
          if (isInteger) expect(reply.body.violations[0].field).toBe(name)
        }
      }
    })
  })

  test('takes a broken percent escape as text', async () => {
    const f = untouched
    const [first = ''] = Object.keys(params)
    const path = pathFor(f, id, f.id, { [first]: 'BROKEN' }).replace('BROKEN', '%zz')
    expect([400, 404]).toContain((await refused(f, () => perform(harness, f, id, { path }))).status)
  })
})

describe.each(idsWhere((o) => o.body !== undefined))('%s', (id) => {
  test('refuses a body that is missing, malformed or of the wrong kind [contract 1.7]', async () => {
    const f = untouched
    const deep = `${'['.repeat(40)}${']'.repeat(40)}`
    const notUtf8 = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])
    const { optionalBody } = operationOf(id)
    const missing = optionalBody ? [] : ['']
    const otherValues =
      optionalBody === 'any value' ? [] : ['[]', '"text"', '1', 'true', ...(optionalBody ? [] : ['null'])]
    const texts = [...missing, ...otherValues, '{', '{"name":', '{"a":1}}', '\u0000', deep]
    await refused(f, async () => {
      for (const raw of sampleOf([...texts, notUtf8], turnOf(id), 3)) {
        const reply = await harness.call(operationOf(id).method, pathFor(f, id), {
          ...credentialsFor(harness, f, id),
          raw,
        })
        expect(codeOf(reply), String(raw)).toBe('400 INVALID_ARGUMENT')
        expect(reply.body.message).toMatch(/^Invalid request: /)
      }
    })
  })

  test('wants application/json [contract 2.2]', async () => {
    const f = untouched
    await refused(f, async () => {
      const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'nonsense']
      for (const type of sampleOf(types, turnOf(id))) {
        // The call of an operation whose body is optional may have none.
        const body = (calls[id](f) as { body?: object }).body ?? {}
        const reply = await perform(harness, f, id, { body, headers: { 'content-type': type } })
        expect(codeOf(reply), type).toBe('415 UNSUPPORTED_MEDIA_TYPE')
      }
    })
  })

  test('keeps the order of checks [contract 2.3]', async () => {
    const f = untouched
    const withoutScope = operationOf(id).scope === 'read' ? lacking.readWithoutManage : lacking.writeWithoutManage
    const [raw, tooLong] = ['{', 'x'.repeat((operationOf(id).bodyLimitBytes ?? 0) + 1)]
    const text = { 'content-type': 'text/plain' }
    const stale = { 'if-match': '"999"' }
    const [param] = Object.keys(operationOf(id).params ?? {})
    const path = param && pathFor(f, id, f.id, { [param]: 2147483647 })
    const steps = [
      [{ key: false, raw }, '401 UNAUTHENTICATED'],
      [{ key: stranger.key, raw }, '404 NOT_FOUND'],
      [{ key: withoutScope, raw }, '403 PERMISSION_DENIED'],
      [{ raw: tooLong, headers: text }, '413 PAYLOAD_TOO_LARGE'],
      [{ raw, headers: text }, '415 UNSUPPORTED_MEDIA_TYPE'],
      [{ raw }, '400 INVALID_ARGUMENT'],
      ...(path && !operationOf(id).optionalBody
        ? ([[{ path, body: [], headers: stale }, '400 INVALID_ARGUMENT']] as const)
        : []),
      ...(path ? ([[{ path, headers: stale }, '404 NOT_FOUND']] as const) : []),
    ] as const
    await refused(f, async () => {
      for (const [call, expected] of steps) expect(codeOf(await perform(harness, f, id, call))).toBe(expected)
    })
  })
})

test('every writing operation declares its audit entry, and no read but the export of the audit log does', () => {
  for (const id of operationIds) {
    const { method, audit, reads } = operationOf(id)
    expect(audit !== undefined, id).toBe((method !== 'GET' && !reads) || id === 'auditLogs')
  }
})

test('no success has both the keys message and status: clients take that for an error [contract 1.2]', () => {
  for (const id of operationIds) {
    const keys = Object.keys((operationOf(id).response as { properties?: object }).properties ?? {})
    expect(keys.includes('message') && keys.includes('status'), id).toBe(false)
  }
})
