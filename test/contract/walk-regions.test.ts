// Walks every operation with ids of things that the caller does not see: each is answered exactly like an id that does not exist.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CallInput, pathOf } from '../../src/client/client.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { type OperationId, operationIds, operations } from '../../src/contract/operations.ts'
import { storedRows } from '../support/database/stored-rows.ts'
import { type Harness, type Reply, startHarness } from '../support/harness.ts'
import { type Credentials, newApiKey, newSession } from '../support/places/callers.ts'
import { type FourPlaces, newFourPlaces, type Place, unknownPlace } from '../support/places/four-places.ts'

/** The calls of an operation that name a place: in the path, the query, a list in the body, and deeper in the body. */
type Namings<K extends OperationId> = (place: Place, all: FourPlaces) => CallInput<K>[]

const none = () => []
const filters = (p: Place, { own }: FourPlaces) => [
  { regionId: p.region },
  { locationId: p.location },
  { regionId: p.region, locationId: p.location },
  { regionId: own.region, locationId: p.location },
  { regionId: p.region, locationId: own.location },
]
const endpoint = (p: Place) => [{ id: p.endpoint }]
const room = (p: Place) => [{ id: p.room }]
const user = (p: Place) => [{ id: p.user }]
/** The list alone, and among others that the caller sees. */
const lists = <T>(foreign: T, own: T): T[][] => [[foreign], [own, foreign], [foreign, own], [foreign, foreign]]

/** An operation without a line here does not compile. */
const namings: { readonly [K in OperationId]: Namings<K> } = {
  auditLogs: none,
  endpointsBasicList: filters,
  endpointsGet: endpoint,
  endpointsDelete: endpoint,
  endpointsMoveRoom: (p, { own }) => [
    ...lists(p.endpoint, own.endpoint).map((endpointIds) => ({ body: { endpointIds, roomId: own.room } })),
    { body: { endpointIds: [own.endpoint], roomId: p.room } },
    { body: { endpointIds: [own.endpoint], roomId: p.room, assignRoomProfile: true } },
    { body: { endpointIds: [p.endpoint], roomId: p.room } },
  ],
  endpointsAssignProfile: (p, { profile }) => [
    { id: p.endpoint, body: { profileId: profile } },
    { id: p.endpoint, body: { profileId: null } },
  ],
  endpointsSettings: endpoint,
  endpointsApplyConfig: (p) => [
    { id: p.endpoint, body: { nightMode: true } },
    { id: p.endpoint, body: {} },
  ],
  configVersionsList: endpoint,
  configVersionsGet: (p) => [1, 2, 9].map((n) => ({ id: p.endpoint, n })),
  configVersionsRestore: (p) => [1, 2, 9].map((n) => ({ id: p.endpoint, n })),
  configStateGet: endpoint,
  endpointsReboot: endpoint,
  endpointsSendMessage: (p, { own }) =>
    lists(p.endpoint, own.endpoint).map((endpointIds) => ({ body: { message: 'Hello.', endpointIds } })),
  roomsSendMessage: (p, { own }) =>
    lists(p.room, own.room).map((roomIds) => ({ body: { message: 'Hello.', roomIds } })),
  endpointsOperationsList: endpoint,
  operationsGet: (p) => [{ id: p.operation }],
  operationsCancel: (p) => [{ id: p.operation }],
  endpointsSensorData: endpoint,
  endpointsBulkSensorData: filters,
  roomsSensorData: room,
  roomsBulkSensorData: filters,
  endpointsSensorHistory: (p) => [
    { id: p.endpoint, from: 0 },
    { id: p.endpoint, from: 0, interval: 'raw', pageSize: 1 },
    { id: p.endpoint, from: 0, pageToken: 'forged' },
  ],
  roomsSensorHistory: (p) => [
    { id: p.room, from: 0 },
    { id: p.room, from: 0, interval: 'raw', pageSize: 1 },
    { id: p.room, from: 0, pageToken: 'forged' },
  ],
  eventsStream: (p, all) => [...filters(p, all), { roomId: p.room }, { regionId: all.own.region, roomId: p.room }],
  endpointsGenerateBugReport: (p, { own }) => lists(p.endpoint, own.endpoint).map((body) => ({ body })),
  bugReportsGet: (p) => [{ supportId: p.supportId }],
  bugReportsFileGet: (p, { own, mixedSupportId }) => [
    { supportId: p.supportId, name: `${p.endpoint}.log.gz` },
    { supportId: own.supportId, name: `${p.endpoint}.log.gz` },
    { supportId: mixedSupportId, name: `${p.endpoint}.log.gz` },
  ],
  regionsList: none,
  regionsCreate: none,
  regionsUpdate: (p) => [{ id: p.region, body: { name: 'Mine' } }],
  regionsDelete: (p) => [{ id: p.region }],
  locationsList: none,
  locationsCreate: (p) => [{ body: { name: 'Mine', regionId: p.region } }],
  locationsUpdate: (p, { own }) => [
    { id: p.location, body: { name: 'Mine' } },
    { id: p.location, body: { regionId: own.region } },
    { id: p.location, body: { regionId: null } },
    { id: own.location, body: { regionId: p.region } },
    { id: own.location, body: { name: 'Mine', regionId: p.region } },
  ],
  locationsDelete: (p) => [{ id: p.location }],
  roomsList: filters,
  roomsGet: room,
  roomsCreate: (p) => [{ body: { name: 'Mine', locationId: p.location } }],
  roomsUpdate: (p, { own }) => [
    { id: p.room, body: { name: 'Mine' } },
    { id: p.room, body: { name: 'Mine', locationId: own.location } },
    { id: p.room, body: { name: 'Mine', locationId: null } },
    { id: own.room, body: { name: 'Mine', locationId: p.location } },
  ],
  roomsDelete: room,
  roomsRegenerateDec: room,
  roomsEnrolmentGet: room,
  roomsAssignProfile: (p, { profile }) => [
    { id: p.room, body: { profileId: profile } },
    { id: p.room, body: { profileId: null } },
  ],
  roomNotesCreate: (p) => [{ roomId: p.room, body: { note: 'Mine.' } }],
  roomNotesListAll: none,
  roomNotesList: (p) => [{ roomId: p.room }],
  roomNotesGet: (p, { own }) => [
    { roomId: p.room, noteId: p.note },
    { roomId: own.room, noteId: p.note },
    { roomId: p.room, noteId: own.note },
  ],
  roomNotesDelete: (p, { own }) => [
    { roomId: p.room, noteId: p.note },
    { roomId: own.room, noteId: p.note },
    { roomId: p.room, noteId: own.note },
  ],
  profilesList: none,
  profilesGet: none,
  profilesCreate: none,
  profilesUpdate: none,
  profilesDelete: none,
  usersList: none,
  usersGet: user,
  usersCreate: (p, { own }) =>
    lists(p.region, own.region).map((regionIds) => ({ body: { email: 'new@example.org', role: 'viewer', regionIds } })),
  usersUpdate: (p, { own }) => [
    { id: p.user, body: { role: 'viewer' } },
    { id: own.user, body: { regionIds: [p.region] } },
  ],
  usersDelete: user,
  usersInvite: user,
  usersUnlink: user,
  userSessionsList: user,
  userSessionsDelete: user,
  keysList: none,
  keysCreate: (p, { own }) =>
    lists(p.region, own.region).map((regionIds) => ({ body: { name: 'New', scopes: ['read'], regionIds } })),
  keysDelete: none,
  meGet: none,
  myKeysList: none,
  myKeysCreate: none,
  myKeysDelete: none,
  identityGet: none,
  identityUpdate: (p) => [{ body: { groupRoles: [{ group: 'team', role: 'viewer', regionIds: [p.region] }] } }],
  identityTest: none,
}

interface RestrictedCaller extends Credentials {
  /** Places of which the caller sees nothing. */
  readonly hidden: readonly Place[]
  /** The place of the other ids in a request. */
  readonly beside?: Place
}

let harness: Harness
let all: FourPlaces
let callers: Readonly<Record<string, RestrictedCaller>>
beforeAll(async () => {
  harness = await startHarness()
  // No scheduled task becomes due while the tests compare what is stored.
  harness.clock.fix(Date.now())
  all = await newFourPlaces(harness)
  const { own, foreign, withoutRegion, withoutLocation } = all
  const hidden = [foreign, withoutRegion, withoutLocation]
  const regionIds = [own.region]
  callers = {
    'admin of a region': { ...(await newSession(harness, all, 'admin', regionIds)), hidden },
    'operator of a region': { ...(await newSession(harness, all, 'operator', regionIds)), hidden },
    'viewer of a region': { ...(await newSession(harness, all, 'viewer', regionIds)), hidden },
    'admin of no region': {
      ...(await newSession(harness, all, 'admin', [])),
      hidden: [own, foreign, withoutRegion],
      beside: withoutLocation,
    },
    'key of a region': { ...(await newApiKey(all, { scopes: ['read', 'write'], regionIds })), hidden },
  }
})
afterAll(() => harness.close())

/** The headers of a conditional request must make no difference either. One person and one key show it. */
const conditions = ({ method, ifMatch }: Operation, callerName: string): Record<string, string>[] => {
  if (!/^(admin|key) of a region$/.test(callerName)) return [{}]
  if (method === 'GET') return [{}, { 'if-none-match': '*' }, { accept: 'text/csv' }]
  return ifMatch ? [{}, { 'if-match': '*' }, { 'if-match': '"1"' }] : [{}]
}

function send(id: OperationId, caller: Credentials, input: object, condition: Record<string, string>): Promise<Reply> {
  const { key, headers } = caller
  const { body } = input as { body?: unknown }
  return harness.call(operations[id].method, pathOf(operations[id], all.id, input as Record<string, unknown>), {
    ...(key !== undefined && { key }),
    ...(body !== undefined && { body }),
    headers: { ...headers, ...condition },
  })
}

/** These say when and how an answer was sent, not what it is. */
const headersOfSending = ['date', 'x-request-id', 'ratelimit', 'ratelimit-policy']

/** Everything that a caller can tell from an answer, with the ids that the request named replaced. */
function comparable({ status, headers, text }: Reply, named: Place): string {
  const ids = Object.values(named).map(String)
  const shown = Object.fromEntries([...headers].filter(([name]) => !headersOfSending.includes(name)))
  const body = text
    .replace(/"requestId":"[^"]*"/, '"requestId":""')
    .replaceAll(/[\w-]+/g, (word) => (ids.includes(word) ? 'ID' : word))
  return JSON.stringify([status, shown, body], null, 1)
}

describe.each(operationIds.filter((id) => namings[id] !== none))('%s', (id) => {
  test('answers an id that the caller does not see like one that does not exist [contract 11.access]', async () => {
    const before = await storedRows(harness)
    const inputsFor = namings[id] as Namings<OperationId>
    for (const [name, caller] of Object.entries(callers)) {
      const others = { ...all, own: caller.beside ?? all.own }
      for (const condition of conditions(operations[id], name)) {
        for (const [at, unknown] of inputsFor(unknownPlace, others).entries()) {
          const expected = comparable(await send(id, caller, unknown, condition), unknownPlace)
          for (const place of caller.hidden) {
            const input = inputsFor(place, others)[at] ?? {}
            const reply = await send(id, caller, input, condition)
            expect(comparable(reply, place), `${name} ${JSON.stringify([input, condition])}`).toBe(expected)
          }
        }
      }
    }
    expect(await storedRows(harness)).toEqual(before)
  })
})

describe.each(['auditLogs', 'endpointsSensorHistory', 'roomsSensorHistory'] as const)('%s', (id) => {
  const firstPage = () =>
    ({
      auditLogs: { from: 0, to: Date.UTC(2100, 0), pageSize: 1 },
      endpointsSensorHistory: { id: all.own.endpoint, from: 0, interval: 'raw', pageSize: 1 },
      roomsSensorHistory: { id: all.own.room, from: 0, interval: 'raw', pageSize: 1 },
    })[id]

  test("refuses another caller's page token like a forged one [contract 11.access]", async () => {
    const owners = {
      ...callers,
      'key of all regions': { key: all.key },
      'other admin of the region': await newSession(harness, all, 'admin', [all.own.region]),
    }
    const withLog = Object.entries(owners).filter(([name]) => id !== 'auditLogs' || /admin|key/.test(name))
    for (const [ownerName, owner] of withLog.filter(([name]) => name !== 'admin of no region')) {
      const { nextPageToken } = (await send(id, owner, firstPage(), {})).body
      expect(nextPageToken, ownerName).not.toBe('')
      expect((await send(id, owner, { ...firstPage(), pageToken: nextPageToken }, {})).status, ownerName).toBe(200)
      const forged = { ...firstPage(), pageToken: nextPageToken.replaceAll(/[^.]/g, 'A') }
      for (const [name, caller] of withLog.filter(([, other]) => other !== owner)) {
        const expected = comparable(await send(id, caller, forged, {}), unknownPlace)
        const reply = await send(id, caller, { ...firstPage(), pageToken: nextPageToken }, {})
        expect(comparable(reply, unknownPlace), `${ownerName} -> ${name}`).toBe(expected)
        if (name !== 'admin of no region' || id === 'auditLogs') expect(reply.status).toBe(400)
      }
    }
  })
})
