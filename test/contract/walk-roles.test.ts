// Walks every operation with each role and with keys of each scope: the table of who may do what is written out here by hand.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/contract/operation.ts'
import { type OperationId, operationIds, operations } from '../../src/contract/operations.ts'
import type { Role } from '../../src/contract/people/permissions.ts'
import { pathFor, perform } from '../support/contract/calls.ts'
import { SharedFixture } from '../support/contract/shared-fixture.ts'
import { leavesNoTrace } from '../support/database/stored-rows.ts'
import { type Fixture, newFixture } from '../support/fixture.ts'
import { engine, type Harness, type Reply } from '../support/harness.ts'
import { newPerson } from '../support/person.ts'
import { type Credentials, newApiKey, newSession, sessionOf } from '../support/places/callers.ts'
import { codeOf, newestEntry, startWalk } from './walk-calls.ts'

type CallerName =
  | `${Exclude<Role, 'owner'>} of ${'all regions' | 'one region'}`
  | 'owner'
  | `key with ${'read' | 'operate' | 'write'}${'' | ' and manage' | ' of one region'}`
  | "owner's key with read"

const allPeople: CallerName[] = [
  'viewer of one region',
  'viewer of all regions',
  'operator of one region',
  'operator of all regions',
  'admin of one region',
  'admin of all regions',
  'owner',
  "owner's key with read",
]
const operators = allPeople.filter((name) => /^operator|^admin|^owner$/.test(name))
const admins = allPeople.filter((name) => /^admin|^owner$/.test(name))
const readKeys: CallerName[] = ['key with read', 'key with read and manage', 'key with read of one region']
const writeKeys: CallerName[] = ['key with write', 'key with write and manage', 'key with write of one region']
const operateKeys: CallerName[] = ['key with operate', 'key with operate and manage', 'key with operate of one region']
const allCallers = [...allPeople, ...readKeys, ...operateKeys, ...writeKeys]

interface Right {
  /** The callers that have it. */
  readonly of: readonly CallerName[]
  /** The person with the least rights who has it. */
  readonly least: { readonly role: Role; readonly allRegions?: true }
  /** The scopes that the header of a refusal names; undefined if no scope is enough. */
  readonly scope?: string
}

const read: Right = { of: [...allPeople, ...readKeys], least: { role: 'viewer' }, scope: 'read' }
const readLog: Right = {
  of: [...admins, ...readKeys, "owner's key with read"],
  least: { role: 'admin' },
  scope: 'read auditLog',
}
const readPeople: Right = { of: ['owner', 'key with read and manage'], least: { role: 'owner' }, scope: 'read manage' }
const operate: Right = {
  of: [...operators, ...operateKeys, ...writeKeys],
  least: { role: 'operator' },
  scope: 'operate',
}
const change: Right = { of: [...admins, ...writeKeys], least: { role: 'admin' }, scope: 'write' }
/** A job of the type CONFIG. The operation takes callers with operate, because other types need no more. */
const changeByJob: Right = { of: change.of, least: change.least }
const changeShared: Right = {
  of: ['admin of all regions', 'owner', 'key with write', 'key with write and manage'],
  least: { role: 'admin', allRegions: true },
  scope: 'write everywhere',
}
const manage: Right = { of: ['owner', 'key with write and manage'], least: { role: 'owner' }, scope: 'write manage' }
/** A key, even a personal one, makes and revokes no others. */
const ownAccount: Right = { of: allPeople.filter((name) => !name.includes('key')), least: { role: 'viewer' } }

/** An operation without a line here does not compile. */
const rights: Readonly<Record<OperationId, Right>> = {
  auditLogs: readLog,
  endpointsBasicList: read,
  endpointsGet: read,
  endpointsDelete: change,
  endpointsMoveRoom: change,
  endpointsAssignProfile: change,
  endpointsSettings: read,
  endpointsApplyConfig: change,
  configVersionsList: read,
  configVersionsGet: read,
  configVersionsRestore: change,
  configStateGet: read,
  endpointsReboot: operate,
  endpointsSendMessage: operate,
  roomsSendMessage: operate,
  endpointsOperationsList: read,
  operationsList: read,
  operationsGet: read,
  operationsCancel: operate,
  endpointsSensorData: read,
  endpointsBulkSensorData: read,
  roomsSensorData: read,
  roomsBulkSensorData: read,
  endpointsSensorHistory: read,
  roomsSensorHistory: read,
  eventsStream: read,
  endpointsGenerateBugReport: operate,
  bugReportsGet: read,
  bugReportsFileGet: change,
  regionsList: read,
  regionsCreate: changeShared,
  regionsUpdate: changeShared,
  regionsDelete: changeShared,
  locationsList: read,
  locationsCreate: change,
  locationsUpdate: change,
  locationsDelete: change,
  roomsList: read,
  roomsGet: read,
  roomsCreate: change,
  roomsUpdate: change,
  roomsDelete: change,
  roomsRegenerateDec: operate,
  roomsEnrolmentGet: operate,
  roomsAssignProfile: change,
  roomNotesCreate: operate,
  roomNotesListAll: read,
  roomNotesList: read,
  roomNotesGet: read,
  roomNotesDelete: operate,
  profilesList: read,
  profilesGet: read,
  profilesCreate: changeShared,
  profilesUpdate: changeShared,
  profilesDelete: changeShared,
  usersList: read,
  usersGet: read,
  usersCreate: manage,
  usersUpdate: manage,
  usersDelete: manage,
  usersInvite: manage,
  usersUnlink: manage,
  userSessionsList: readPeople,
  userSessionsDelete: manage,
  keysList: manage,
  keysCreate: manage,
  keysDelete: manage,
  meGet: read,
  myKeysList: ownAccount,
  myKeysCreate: ownAccount,
  myKeysDelete: ownAccount,
  identityGet: readPeople,
  identityUpdate: manage,
  identityTest: manage,
  endpointsConnections: read,
  roomsConnections: read,
  incidentsList: read,
  incidentsGet: read,
  incidentsAcknowledge: operate,
  incidentsResolve: operate,
  incidentsComment: operate,
  incidentsAssign: operate,
  incidentsSnooze: operate,
  incidentRulesList: read,
  incidentRulesUpdate: changeShared,
  silencesList: read,
  silencesCreate: operate,
  silencesDelete: operate,
  channelsList: readPeople,
  channelsGet: readPeople,
  channelsCreate: manage,
  channelsUpdate: manage,
  channelsDelete: manage,
  channelsTest: manage,
  channelsRotateSecret: manage,
  deliveriesList: readPeople,
  deliveriesReplay: manage,
  profilesReach: read,
  profileVersionsList: read,
  profileVersionsGet: read,
  profilesRestore: changeShared,
  jobsPlan: read,
  jobsCreate: operate,
  jobsList: read,
  jobsGet: read,
  jobsRoomsList: read,
  jobsStart: operate,
  jobsPause: operate,
  jobsResume: operate,
  jobsCancel: operate,
  jobsRollBack: changeByJob,
  jobsRetry: operate,
}

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

/** Calls an operation with every caller that may not; on PostgreSQL with one of them, because a caller is refused before the rule runs. */
async function expectForbidden(id: OperationId): Promise<void> {
  const { of: allowed, scope } = rights[id]
  const forbidden = allCallers.filter((name) => !allowed.includes(name))
  for (const name of engine === 'sqlite' ? forbidden : forbidden.slice(-1)) {
    const reply = await perform(harness, f, id, callers[name])
    const who = `${id} by ${name}`
    expect(codeOf(reply), who).toBe('403 PERMISSION_DENIED')
    if (scope) expect(reply.headers.get('www-authenticate'), who).toContain(`scope="${scope}"`)
    const { message } = reply.body
    const [first = ''] = name.split(' ')
    if (id.startsWith('myKeys')) expect(message, who).toContain('Sign in as a person')
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
    for (const name of allowed) {
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
      const before = await newestEntry(fixture)
      const own = { ...fixture, person, ...(annex && { location: annex }) }
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
