// Walks every operation of the table: what holds for all of them is proved for each of them.
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/contract/operation.ts'
import { type OperationId, operationIds, operations } from '../../src/contract/operations.ts'
import { calls, credentialsFor, type Fixture, newFixture, pathFor, perform } from '../support/fixture.ts'
import { type Harness, type Reply, startHarness } from '../support/harness.ts'
import { freePort } from '../support/program.ts'

let harness: Harness
/** For reads, and for attempts that must leave no trace: each of them proves it. */
let untouched: Fixture
beforeAll(async () => {
  // identityTest needs a public address.
  const port = await freePort()
  harness = await startHarness({ port, publicUrl: `http://127.0.0.1:${port}` })
  untouched = await newFixture(harness)
})
afterAll(() => harness.close())

const of = (id: OperationId): Operation => operations[id]
const idsWhere = (is: (o: Operation) => boolean) => operationIds.filter((id) => is(of(id)))
const codeOf = (reply: Reply) => `${reply.status} ${reply.body?.code ?? 'OK'}`

/** Runs attempts that must fail, and proves that they left no trace: an entry never goes, so one look afterwards sees all. */
async function refused<T>(f: Fixture, attempts: () => Promise<T>): Promise<T> {
  const before = await f.audit()
  const result = await attempts()
  expect(await f.audit(), 'a refused call leaves no audit entry').toEqual(before)
  return result
}

describe.each(operationIds)('%s', (id) => {
  const operation = of(id)

  test('without a token is a 401 that says which scheme it wants [contract 2.2] [interface A1]', async () => {
    await refused(untouched, async () => {
      for (const headers of [{}, { authorization: 'Bearer nonsense' }, { authorization: 'Basic eDp5' }] as const) {
        const reply = await perform(harness, untouched, id, { key: false, headers })
        expect(codeOf(reply)).toBe('401 UNAUTHENTICATED')
        expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer /)
      }
    })
  })

  test('with a key that lacks the scope is a 403 that names it [contract 2.2] [interface A3]', async () => {
    const f = untouched
    const lacking = operation.scope === 'read' ? 'write' : 'read'
    const key = await f.newKey({ scopes: [lacking], manage: true })
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
    const stranger = await harness.newOrg()
    const key = await stranger.newKey({ scopes: ['read', 'write'], manage: true })
    const existing = await refused(f, () => perform(harness, f, id, { key }))
    const missing = await perform(harness, f, id, { key, path: pathFor(f, id, 'Nowhere') })
    expect(existing.status).toBe(404)
    expect(missing.status).toBe(404)
    const { requestId: _, ...body } = existing.body
    expect(body).toEqual({ status: 404, code: 'NOT_FOUND', message: 'Requested resource not found' })
    expect({ ...missing.body, requestId: '' }).toEqual({ ...existing.body, requestId: '' })
    expect([...missing.headers.keys()]).toEqual([...existing.headers.keys()])
  })

  test('succeeds on both bases, and makes exactly the audit entry that it declares [contract 1.1] [contract 5.4.audit]', async () => {
    for (const base of ['', '/api', '/']) {
      const f = operation.method === 'GET' ? untouched : await newFixture(harness)
      const before = await f.audit()
      const reply = await perform(harness, f, id, { base, headers: { 'x-request-id': `walk-${id}` } })
      expect(codeOf(reply)).toBe('200 OK')
      expect(reply.headers.get('x-request-id')).toBe(`walk-${id}`)
      expect(reply.headers.has('deprecation')).toBe(base === '/api')
      const added = (await f.audit()).slice(0, -before.length)
      if (operation.method === 'GET') expect(added).toEqual([])
      else {
        expect(added).toHaveLength(1)
        expect(added[0]).toMatchObject({
          type: operation.audit?.type,
          category: operation.audit?.category,
          actor: operation.person ? { type: 'USER', name: f.person.email } : { type: 'KEY', name: 'Test key' },
          requestId: `walk-${id}`,
          ip: '127.0.0.1',
        })
      }
    }
  })

  test('its example is valid against its own shapes', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false })
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
    const key = await f.newKey({ scopes: ['read', 'write'] })
    const reply = await refused(f, () => perform(harness, f, id, { key }))
    expect(codeOf(reply)).toBe('403 PERMISSION_DENIED')
    expect(reply.body.message).toContain('manage')
  })
})

describe.each(idsWhere((o) => o.ifMatch === true))('%s', (id) => {
  test('with a stale If-Match is a 412, with the current one it works [contract 7.11]', async () => {
    const f = await newFixture(harness)
    await refused(f, async () => {
      for (const tag of ['"999"', 'W/"1"', '"1x"']) {
        expect(codeOf(await perform(harness, f, id, { headers: { 'if-match': tag } }))).toBe('412 ABORTED')
      }
    })
    expect(codeOf(await perform(harness, f, id, { headers: { 'if-match': '"7", "1", "2"' } }))).toBe('200 OK')
  })

  test('with If-Match: * works when the resource exists, and is a 404 when it does not [contract 2.3]', async () => {
    const f = await newFixture(harness)
    const last = Object.keys(of(id).params ?? {}).at(-1)
    const headers = { 'if-match': '*' }
    // The settings of an organisation have no id: they always exist.
    if (last) {
      const missing = pathFor(f, id, f.id, { [last]: 2147483647 })
      expect(codeOf(await refused(f, () => perform(harness, f, id, { path: missing, headers })))).toBe('404 NOT_FOUND')
    }
    expect(codeOf(await perform(harness, f, id, { headers }))).toBe('200 OK')
  })
})

describe.each(idsWhere((o) => o.method === 'GET'))('%s', (id) => {
  test.runIf(!of(id).stream)('with If-None-Match of the same answer is a 304 [contract 7.11]', async () => {
    const f = untouched
    const first = await perform(harness, f, id)
    const etag = first.headers.get('etag') ?? ''
    for (const tag of [etag, `"other", ${etag}`, '*']) {
      const again = await perform(harness, f, id, { headers: { 'if-none-match': tag } })
      expect(again.status).toBe(304)
      expect(again.text).toBe('')
      expect(again.headers.get('etag')).toBe(etag)
    }
    expect((await perform(harness, f, id, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  })

  test('answers HEAD with the same headers and no body', async () => {
    const f = untouched
    const get = await perform(harness, f, id)
    const head = await harness.call('HEAD', pathFor(f, id), credentialsFor(harness, f, id))
    expect(head.status).toBe(200)
    expect(head.text).toBe('')
    expect(head.headers.get('etag')).toBe(get.headers.get('etag'))
  })
})

const withIds = idsWhere((o) => o.params !== undefined)
describe.each(withIds)('%s', (id) => {
  const { params = {} } = of(id)

  test('refuses what is not a plain int32 and names the parameter; an unknown id is a 404 [contract 1.5]', async () => {
    const f = untouched
    const at = (name: string, value: string | number) =>
      perform(harness, f, id, { path: pathFor(f, id, f.id, { [name]: value }) })
    const malformed = ['1e3', '01', '2147483648', '-2147483649', '-0', '+1', '1.0', ' 1', 'x', '٣', '9'.repeat(300)]
    await refused(f, async () => {
      for (const [name, shape] of Object.entries(params)) {
        const isInteger = (shape as { type?: string }).type === 'integer'
        for (const value of malformed) {
          const reply = await at(name, value)
          expect(codeOf(reply), `${name}=${value}`).toBe(isInteger ? '400 INVALID_ARGUMENT' : '404 NOT_FOUND')
          if (isInteger) expect(reply.body.violations[0].field).toBe(name)
        }
        for (const value of [0, -1, 2147483647, -2147483648]) {
          const reply = await at(name, value)
          expect(codeOf(reply), `${name}=${value}`).toBe('404 NOT_FOUND')
          expect(reply.body.message).toMatch(/^Requested resource not found: there is no /)
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
    const texts = ['', '{', '[]', '"text"', '1', 'null', 'true', '{"name":', '{"a":1}}', '\u0000', deep]
    await refused(f, async () => {
      for (const raw of [...texts, notUtf8]) {
        const reply = await harness.call(of(id).method, pathFor(f, id), { ...credentialsFor(harness, f, id), raw })
        expect(codeOf(reply), String(raw)).toBe('400 INVALID_ARGUMENT')
        expect(reply.body.message).toMatch(/^Invalid request: /)
      }
    })
  })

  test('wants application/json [contract 2.2]', async () => {
    const f = await newFixture(harness)
    await refused(f, async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'nonsense']) {
        const reply = await perform(harness, f, id, { headers: { 'content-type': type } })
        expect(codeOf(reply), type).toBe('415 UNSUPPORTED_MEDIA_TYPE')
      }
    })
    const charset = { 'content-type': 'application/json; charset=utf-8' }
    expect(codeOf(await perform(harness, f, id, { headers: charset }))).toBe('200 OK')
  })

  test('keeps the order of checks [contract 2.3]', async () => {
    const f = untouched
    const stranger = await harness.newOrg()
    const readOnly = await f.newKey({ scopes: ['read'] })
    const [raw, tooLong] = ['{', 'x'.repeat((of(id).bodyLimitBytes ?? 0) + 1)]
    const text = { 'content-type': 'text/plain' }
    const stale = { 'if-match': '"999"' }
    const [param] = Object.keys(of(id).params ?? {})
    const path = param && pathFor(f, id, f.id, { [param]: 2147483647 })
    const steps = [
      [{ key: false, raw }, '401 UNAUTHENTICATED'],
      [{ key: stranger.key, raw }, '404 NOT_FOUND'],
      [{ key: readOnly, raw }, '403 PERMISSION_DENIED'],
      [{ raw: tooLong, headers: text }, '413 PAYLOAD_TOO_LARGE'],
      [{ raw, headers: text }, '415 UNSUPPORTED_MEDIA_TYPE'],
      [{ raw }, '400 INVALID_ARGUMENT'],
      ...(path ? ([[{ path, body: [], headers: stale }, '400 INVALID_ARGUMENT']] as const) : []),
      ...(path ? ([[{ path, headers: stale }, '404 NOT_FOUND']] as const) : []),
    ] as const
    await refused(f, async () => {
      for (const [call, expected] of steps) expect(codeOf(await perform(harness, f, id, call))).toBe(expected)
    })
  })
})

/** A list has no keys, and a device config refuses unknown keys, so that a typing error is noticed. */
const hasOpenBody = ({ body }: Operation): boolean => {
  const { type, additionalProperties } = (body ?? {}) as { type?: string; additionalProperties?: boolean }
  return type === 'object' && additionalProperties !== false
}

describe.each(idsWhere(hasOpenBody))('%s', (id) => {
  test('ignores keys that it does not know [contract 1.7]', async () => {
    const f = await newFixture(harness)
    const { body } = calls[id](f) as { body: object }
    const extra = { ...body, unheardOf: { deep: [1] }, constructor: 1, toString: 'x' }
    expect(codeOf(await perform(harness, f, id, { body: extra }))).toBe('200 OK')
  })
})

describe.each(idsWhere((o) => o.body === undefined && o.method !== 'GET'))('%s', (id) => {
  test('is accepted without a body, with or without a Content-Type [contract 1.7]', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }, { 'content-type': 'text/plain' }] as Record<
      string,
      string
    >[]) {
      const f = await newFixture(harness)
      expect(codeOf(await perform(harness, f, id, { headers }))).toBe('200 OK')
    }
  })
})

test('every writing operation declares its audit entry, and no read but the export of the audit log does', () => {
  for (const id of operationIds) {
    const { method, audit } = of(id)
    expect(audit !== undefined, id).toBe(method !== 'GET' || id === 'auditLogs')
  }
})

test('no success has both the keys message and status: clients take that for an error [contract 1.2]', () => {
  for (const id of operationIds) {
    const keys = Object.keys((of(id).response as { properties?: object }).properties ?? {})
    expect(keys.includes('message') && keys.includes('status'), id).toBe(false)
  }
})
