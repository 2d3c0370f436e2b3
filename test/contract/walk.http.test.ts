// Walks every operation of the table where it succeeds: what holds for all of them is proved for each of them. In the short form each
// operation gets one case of each kind, and the operations take the cases in turn.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { takesIdempotencyKey } from '../../src/contract/idempotency.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { type OperationId, operationIds } from '../../src/contract/operations.ts'
import { calls, credentialsFor, pathFor, perform } from '../support/contract/calls.ts'
import { SharedFixture } from '../support/contract/shared-fixture.ts'
import { type Fixture, newFixture } from '../support/fixture.ts'
import { type Call, engine, type Harness, type Reply } from '../support/harness.ts'
import { sampleOf } from '../support/long-form.ts'
import { codeOf, idsWhere, newestEntry, operationOf, refused, startWalk, turnOf } from './walk-calls.ts'

let harness: Harness
/** For reads, and for attempts that must leave no trace: each of them proves it. */
let untouched: Fixture
/** Each kind of request has a fixture of its own, because one request deletes what the next needs. */
let changing: Record<(typeof bases)[number] | 'ifMatchVersions' | 'ifMatchAny', SharedFixture>
beforeAll(async () => {
  harness = await startWalk()
  untouched = await newFixture(harness)
  const fresh = () => new SharedFixture(harness)
  changing = { '': fresh(), '/api': fresh(), '/': fresh(), ifMatchVersions: fresh(), ifMatchAny: fresh() }
})
afterAll(() => harness.close())

/** A list has no keys, and a device config refuses unknown keys, so that a typing error is noticed. */
const hasOpenBody = ({ body }: Operation): boolean => {
  const { type, additionalProperties } = (body ?? {}) as { type?: string; additionalProperties?: boolean }
  return type === 'object' && additionalProperties !== false
}
/** The paths and types of requests are the same on both databases. */
const bases = engine === 'sqlite' ? (['', '/api', '/'] as const) : ([''] as const)
/** Both databases compare a version with a list of them in the same code. */
const tagsFor = (etag: string) => (engine === 'sqlite' ? [etag, `"other", ${etag}`, '*'] : [etag])
/** Only the smallest and the largest id depend on the type of a column, which differs between databases. */
const unknownIds = engine === 'sqlite' ? [0, -1, 2147483647, -2147483648] : [2147483647, -2147483648]
const unknownKeys = { unheardOf: { deep: [1] }, constructor: 1, toString: 'x' }

/** Requests that must all succeed: without a body a Content-Type makes no difference, and unknown keys of a body are ignored. [contract 1.7] */
const variants = (id: OperationId, f: Fixture) => {
  const { body } = calls[id](f) as { body?: object }
  const type = (value: string) => ({ headers: { 'content-type': value } })
  if (!operationOf(id).body) return { '': {}, '/api': type('application/json'), '/': type('text/plain') }
  return {
    '': {},
    '/api': type('application/json; charset=utf-8'),
    '/': hasOpenBody(operationOf(id)) ? { body: { ...body, ...unknownKeys } } : {},
  }
}

/** A repeat with the same Idempotency-Key makes no entry, and gets the first answer unless that shows a secret. */
function expectRepeat({ repeat, audit }: Operation, first: Reply, second: Reply) {
  if (repeat === 'secret') {
    expect(codeOf(second)).toBe('400 FAILED_PRECONDITION')
    expect(second.body.message).toContain(audit?.type)
  } else {
    const shown = ({ status, text, headers }: Reply) => [status, text, headers.get('etag')]
    expect(shown(second)).toEqual(shown(first))
    expect([first, second].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true'])
  }
}

describe.each(operationIds)('%s', (id) => {
  const operation = operationOf(id)

  test('succeeds on both bases, makes exactly the audit entry that it declares, and is done once for an Idempotency-Key [contract 1.1] [contract 5.4.audit] [contract 7.once]', async () => {
    for (const base of sampleOf(bases, turnOf(id))) {
      const attempt = async (f: Fixture) => {
        const before = await newestEntry(f)
        const { headers, ...variant } = variants(id, f)[base] as Call
        const all = { 'x-request-id': `walk-${id}`, 'idempotency-key': 'once', ...headers }
        const send = () => perform(harness, f, id, { base, ...variant, headers: all })
        return { before, send, reply: await send() }
      }
      const { f, before, send, reply } =
        operation.method === 'GET'
          ? { f: untouched, ...(await attempt(untouched)) }
          : await changing[base].succeed(id, attempt)
      expect(codeOf(reply)).toBe('200 OK')
      expect(reply.headers.get('x-request-id')).toBe(`walk-${id}`)
      expect(reply.headers.has('deprecation')).toBe(base === '/api')
      const added = await newestEntry(f)
      expect(Number(added.id) - Number(before.id)).toBe(operation.audit && operation.method !== 'GET' ? 1 : 0)
      if (operation.method !== 'GET' && operation.audit) {
        expect(added).toMatchObject({
          type: operation.audit?.type,
          category: operation.audit?.category,
          actor: operation.person ? { type: 'USER', name: f.person.email } : { type: 'KEY', name: 'Test key' },
          requestId: `walk-${id}`,
          ip: '127.0.0.1',
        })
      }
      if (!takesIdempotencyKey(operation)) continue
      expectRepeat(operation, reply, await send())
      expect((await newestEntry(f)).id).toBe(added.id)
    }
  })
})

describe.each(idsWhere((o) => o.ifMatch === true))('%s', (id) => {
  const withTag = (f: Fixture, tag: string, path?: string) =>
    perform(harness, f, id, { ...(path !== undefined && { path }), headers: { 'if-match': tag } })

  test('with a stale If-Match is a 412, with the current one it works [contract 7.11]', async () => {
    await refused(untouched, async () => {
      for (const tag of sampleOf(['"999"', 'W/"1"', '"1x"'], turnOf(id)))
        expect(codeOf(await withTag(untouched, tag))).toBe('412 ABORTED')
    })
    const versions = Array.from({ length: 100 }, (_, version) => `"${version}"`).join(', ')
    const { reply } = await changing.ifMatchVersions.succeed(id, async (f) => ({ reply: await withTag(f, versions) }))
    expect(codeOf(reply)).toBe('200 OK')
  })

  const last = Object.keys(operationOf(id).params ?? {}).at(-1)
  // The settings of an organisation have no id: they always exist.
  test.runIf(last)('with If-Match: * is a 404 when the resource does not exist [contract 2.3]', async () => {
    const missing = pathFor(untouched, id, untouched.id, { [last ?? '']: 2147483647 })
    expect(codeOf(await refused(untouched, () => withTag(untouched, '*', missing)))).toBe('404 NOT_FOUND')
  })

  // No version is compared then, so the database sees the same as without the header, which is tested above.
  test.runIf(engine === 'sqlite')('with If-Match: * works when the resource exists [contract 2.3]', async () => {
    const { reply } = await changing.ifMatchAny.succeed(id, async (f) => ({ reply: await withTag(f, '*') }))
    expect(codeOf(reply)).toBe('200 OK')
  })
})

describe.each(idsWhere((o) => o.method === 'GET'))('%s', (id) => {
  const { stream, download } = operationOf(id)
  test.runIf(!stream && !download?.startsWith('text/'))(
    'with If-None-Match of the same answer is a 304 [contract 7.11]',
    async () => {
      const f = untouched
      const first = await perform(harness, f, id)
      const etag = first.headers.get('etag') ?? ''
      for (const tag of sampleOf(tagsFor(etag), turnOf(id))) {
        const again = await perform(harness, f, id, { headers: { 'if-none-match': tag } })
        expect(again.status).toBe(304)
        expect(again.text).toBe('')
        expect(again.headers.get('etag')).toBe(etag)
      }
      expect((await perform(harness, f, id, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    },
  )

  // HEAD runs the handler of GET, so the database makes no difference.
  test.runIf(engine === 'sqlite')('answers HEAD with the same headers and no body', async () => {
    const f = untouched
    const get = await perform(harness, f, id)
    const head = await harness.call('HEAD', pathFor(f, id), credentialsFor(harness, f, id))
    expect(head.status).toBe(200)
    expect(head.text).toBe('')
    expect(head.headers.get('etag')).toBe(get.headers.get('etag'))
  })
})

describe.each(idsWhere((o) => o.params !== undefined))('%s', (id) => {
  test('answers an unknown id with a 404, the smallest and largest too [contract 1.5]', async () => {
    const f = untouched
    await refused(f, async () => {
      for (const name of Object.keys(operationOf(id).params ?? {})) {
        for (const value of sampleOf(unknownIds, turnOf(id))) {
          const reply = await perform(harness, f, id, { path: pathFor(f, id, f.id, { [name]: value }) })
          expect(codeOf(reply), `${name}=${value}`).toBe('404 NOT_FOUND')
          expect(reply.body.message).toMatch(/^Requested resource not found: there is no /)
        }
      }
    })
  })
})
