// Methods: HEAD answers what GET does, and a method that a path does not have is a 405 that lists those that it has.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OperationId, operationList } from '../../src/contract/operations.ts'
import { pathFor } from '../support/contract/calls.ts'
import { type Fixture, newFixture } from '../support/fixture.ts'
import { type Harness, startHarness } from '../support/harness.ts'

let harness: Harness
let f: Fixture
beforeAll(async () => {
  harness = await startHarness()
  f = await newFixture(harness)
})
afterAll(() => harness.close())

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND']

/** Sends every method but those that are allowed. */
async function sendOthers(path: string, allowed: readonly string[], key: string | false = f.key) {
  const others = methods.filter((method) => !allowed.includes(method))
  const replies = others.map((method) => harness.call(method, path, { key }))
  return (await Promise.all(replies)).map(({ status, headers }) => [status, headers.get('allow')])
}

test.each([
  ['/livez', 'GET, HEAD'],
  ['/readyz', 'GET, HEAD'],
  ['/metrics', 'GET, HEAD'],
  ['/openapi.json', 'GET, HEAD'],
  ['/organisation.schema.json', 'GET, HEAD'],
  ['/docs', 'GET, HEAD'],
  ['/enrol', 'GET, HEAD'],
  ['/', 'GET, HEAD'],
  ['/rooms', 'GET, HEAD'],
  ['/rooms/7', 'GET, HEAD'],
  ['/console/session', 'DELETE, GET, HEAD, POST'],
  ['/console/sessions', 'GET, HEAD'],
  ['/console/sessions/7', 'DELETE'],
  ['/console/passkeys', 'GET, HEAD'],
  ['/console/sign-in', 'GET, HEAD'],
  ['/console/sign-in/passkey/verify', 'POST'],
  ['/device/v1/enrol?x=1', 'POST'],
])('another method on %s is a 405 that allows %s [contract 2.2.method]', async (path, allow) => {
  for (const answer of await sendOthers(path, allow.split(', '), false)) {
    expect(answer).toEqual([405, allow])
  }
})

const fixed = ['sensor', 'generate_bug_report', 'move_paired', 'send_message']
test('a fixed path is not taken for an id by another method [contract 4.routes] [contract 2.2.method]', async () => {
  const at = (path: string) => operationList.filter((o) => o.path === path).map(({ method }) => method as string)
  const paths = [
    ...fixed.map((name) => `/endpoints/${name}`),
    ...['sensor', 'notes', 'send_message'].map((n) => `/rooms/${n}`),
    '/jobs/plan',
  ]
  for (const path of paths) {
    const allowed = at(path).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    expect(allowed, path).not.toEqual([])
    for (const base of ['', '/api', '/']) {
      const answers = await sendOthers(`${base}/v1/orgs/${f.id}${path}`, allowed)
      for (const answer of answers) expect([path, ...answer]).toEqual([path, 405, allowed.join(', ')])
    }
    const unknown = await sendOthers(`/v1/orgs/${f.id}${path}`, allowed, false)
    for (const answer of unknown)
      expect([path, ...answer], 'without a token nobody learns it').toEqual([path, 401, null])
    const stranger = await harness.newOrg()
    const [foreign] = await sendOthers(`/v1/orgs/${f.id}${path}`, allowed, stranger.key)
    expect(foreign).toEqual([404, null])
  }
})

test('an unknown path is a 404 for every method [contract 2.2.method]', async () => {
  const paths = [
    '/nothing',
    '/livez/x',
    '/docs/x',
    '/assets/none.js',
    `/v1/orgs/${f.id}/nothing`,
    `/api/v1/orgs/${f.id}/nothing`,
    '/v1',
  ]
  for (const path of paths) {
    for (const answer of await sendOthers(path, [])) expect([path, ...answer]).toEqual([path, 404, null])
  }
})

const csvIds = operationList.filter((o) => 'csv' in o).map(({ id }) => id as OperationId)
test.each(csvIds)(
  'HEAD of %s has the headers of the CSV that GET answers, and exports nothing [contract 1.2]',
  async (id) => {
    const headers = { accept: 'text/csv' }
    const path = pathFor(f, id)
    const get = await harness.call('GET', path, { key: f.key, headers })
    const before = await f.audit()
    const head = await harness.call('HEAD', path, { key: f.key, headers })
    expect(head.status).toBe(200)
    expect(head.text).toBe('')
    expect(get.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    for (const name of ['content-type', 'content-disposition', 'x-content-type-options', 'etag']) {
      expect(head.headers.get(name), name).toBe(get.headers.get(name))
    }
    expect(await f.audit()).toEqual(before)
    const wrong = `${path}${path.includes('?') ? '&' : '?'}bom=perhaps`
    expect((await harness.call('HEAD', wrong, { key: f.key, headers })).status, 'errors as for GET').toBe(400)
  },
)
