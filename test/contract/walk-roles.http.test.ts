// Walks every operation with each role and with keys of each scope, against a table of who may do what.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/contract/operation.ts'
import { type OperationId, operationIds, operations } from '../../src/contract/operations.ts'
import type { Role } from '../../src/contract/people/permissions.ts'
import { pathFor, perform } from '../support/contract/calls.ts'
import { allCallers, allPeople, type CallerName, operators, readKeys, rights } from '../support/contract/rights.ts'
import { SharedFixture } from '../support/contract/shared-fixture.ts'
import { leavesNoTrace } from '../support/database/stored-rows.ts'
import { type Fixture, newFixture } from '../support/fixture.ts'
import { engine, type Harness, type Reply } from '../support/harness.ts'
import { sampleOf } from '../support/long-form.ts'
import { newPerson } from '../support/person.ts'
import { type Credentials, newApiKey, newSession, sessionOf } from '../support/places/callers.ts'
import { codeOf, newestEntry, startWalk, turnOf } from './walk-calls.ts'

let harness: Harness
let f: Fixture
let changing: SharedFixture
let callers: Readonly<Record<string, Credentials>>
beforeAll(async () => {
  harness = await startWalk()
  f = await newFixture(harness)
  changing = new SharedFixture(harness)
  callers = Object.fromEntries(
    await Promise.all(allCallers.map(async (name) => [name, await newCaller(name)] as const)),
  )
})
afterAll(() => harness.close())

async function newCaller(name: CallerName): Promise<Credentials> {
  const regionIds = name.endsWith('of one region') ? [f.region] : undefined
  const [first = '', , scope = ''] = name.split(' ')
  if (name === "owner's key with read") {
    const owner = sessionOf(harness, await newPerson(harness, f, { role: 'owner' }))
    const body = { name: 'Own', scopes: ['read'], expiresAt: new Date(harness.clock.now() + 86_400_000).toISOString() }
    return { key: (await f.call('POST', '/me/keys', { ...owner, body })).body.key }
  }
  if (first !== 'key') return newSession(harness, f, first as Role, regionIds)
  const manages = name.endsWith('and manage')
  return newApiKey(f, { scopes: [scope as 'read'], manage: manages, ...(regionIds && { regionIds }) })
}

/** Passes all checks of the caller, and changes nothing: a write names nothing that exists, or its body is cut off. */
function harmless(id: OperationId, caller: Credentials): Promise<Reply> {
  const { method, params, body } = operations[id] as { method: string; params?: object; body?: object }
  if (method === 'GET') return perform(harness, f, id, caller)
  if (body) return harness.call(method, pathFor(f, id), { ...caller, raw: '{' })
  const [last] = Object.keys(params ?? {}).slice(-1)
  return perform(harness, f, id, { ...caller, ...(last && { path: pathFor(f, id, f.id, { [last]: 2147483647 }) }) })
}

/** All callers; in the short form one person and one key, and operations take them in turn. */
const someOfEachKind = (names: readonly CallerName[], turn: number): CallerName[] => {
  const { person = [], key = [] } = Object.groupBy(names, (name) => (name.startsWith('key') ? 'key' : 'person'))
  return [...sampleOf(person, turn), ...sampleOf(key, turn)]
}

/** Calls an operation with every caller that may not; on PostgreSQL with one of them, because a caller is refused before the rule runs. */
async function expectForbidden(id: OperationId): Promise<void> {
  const { of: allowed, scope } = rights[id]
  const forbidden = someOfEachKind(
    allCallers.filter((name) => !allowed.includes(name)),
    turnOf(id),
  )
  for (const name of engine === 'sqlite' ? forbidden : forbidden.slice(-1)) {
    const reply = await perform(harness, f, id, callers[name])
    const who = `${id} by ${name}`
    expect(codeOf(reply), who).toBe('403 PERMISSION_DENIED')
    if (scope) expect(reply.headers.get('www-authenticate'), who).toContain(`scope="${scope}"`)
    const { message } = reply.body
    const [first = ''] = name.split(' ')
    if (id.startsWith('myKeys') || id === 'meUpdate') expect(message, who).toContain('Sign in as a person')
    else if (first === "owner's") expect(message, who).toMatch(/personal key, or the role owner .*ask an owner/)
    else if (first === 'key') expect(message, who).toMatch(/key lacks .*(scope|manage|all regions)/)
    else expect(message, who).toMatch(new RegExp(`role ${first} lacks .*needs (the role|an) .*owner`))
  }
}

test('each operation is a 403 that says what is needed for all who may not call it, and leaves no trace [contract 11.user]', () =>
  leavesNoTrace(harness, async () => {
    for (const id of operationIds) await expectForbidden(id)
  }))

describe.each(operationIds)('%s', (id) => {
  const { of: allowed } = rights[id]

  // A write is cut off before its rule runs.
  const readsDatabase = operations[id].method === 'GET'
  test.runIf(engine === 'sqlite' || readsDatabase)('lets all others pass [contract 11.user]', async () => {
    for (const name of someOfEachKind(allowed, turnOf(id))) {
      const reply = await harmless(id, callers[name] ?? {})
      expect(reply.status, `${name}: ${reply.text}`).not.toBe(401)
      expect(reply.status, `${name}: ${reply.text}`).not.toBe(403)
      if (operations[id].method === 'GET') expect(codeOf(reply), name).toBe('200 OK')
    }
  })

  test('succeeds for the person with the least rights, whom the audit entry names [contract 11.user]', async () => {
    const { method, reads } = operations[id] as Operation
    const isRead = method === 'GET' || reads === true
    const { role, allRegions = false } = rights[id].least
    const attempt = async (fixture: Fixture) => {
      const person = await newPerson(harness, fixture, { role, allRegions, regionIds: [fixture.region] })
      // The rooms of a location that is deleted would be in no region any more.
      const annex = id === 'locationsDelete' && (await newAnnex(fixture))
      // A view is changed by the person that it belongs to.
      const view = ['viewsUpdate', 'viewsDelete'].includes(id) && (await newView(fixture, sessionOf(harness, person)))
      const before = await newestEntry(fixture)
      const own = { ...fixture, person, ...(annex && { location: annex }), ...(view && { view }) }
      return { person, before, reply: await perform(harness, own, id, sessionOf(harness, person)) }
    }
    const {
      f: fixture,
      person,
      before,
      reply,
    } = isRead ? { f, ...(await attempt(f)) } : await changing.succeed(id, attempt)
    expect(codeOf(reply), reply.text).toBe('200 OK')
    const entry = await newestEntry(fixture)
    expect(Number(entry.id) - Number(before.id)).toBe(isRead ? 0 : 1)
    if (!isRead) expect(entry.actor).toEqual({ type: 'USER', id: person.id, name: person.email })
  })
})

const newAnnex = async (fixture: Fixture): Promise<number> =>
  (await fixture.call('POST', '/locations', { body: { name: 'Annex', regionId: fixture.region } })).body.id

const newView = async (fixture: Fixture, caller: Credentials): Promise<string> =>
  (await fixture.call('POST', '/views', { ...caller, body: { name: 'Mine', page: 'jobs', query: '' } })).body.id

test('the enrolment code of a room is shown to callers with operate only [contract 11.user]', async () => {
  const shown: string[] = []
  for (const name of [...allPeople, ...readKeys]) {
    const { body } = await perform(harness, f, 'roomsGet', callers[name])
    expect(body.id, name).toBe(f.room)
    if (body.dec !== undefined) shown.push(name)
  }
  expect(shown).toEqual(operators)
})

test('/metrics refuses a key that is limited to regions [contract 11.user]', async () => {
  const fromElsewhere = { 'x-forwarded-for': '192.0.2.7' }
  const statusOf = async (name: string) =>
    (await harness.call('GET', '/metrics', { ...callers[name], headers: fromElsewhere })).status
  expect(await statusOf('key with read')).toBe(200)
  expect(await statusOf('key with read of one region')).toBe(403)
})
