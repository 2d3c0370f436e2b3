// Walks every operation with ids of things that the caller does not see: each is answered exactly like an id that does not exist. In
// the short form one caller names each id of an operation in one place, and callers, places and headers take turns.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pathOf } from '../../src/client/client.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { type OperationId, operationIds, operations } from '../../src/contract/operations.ts'
import { leavesNoTrace } from '../support/database/stored-rows.ts'
import { newEndpoint } from '../support/fixture.ts'
import { engine, type Harness, type Reply, startHarness } from '../support/harness.ts'
import { isFullForm, sampleOf } from '../support/long-form.ts'
import { type Credentials, newApiKey, newSession } from '../support/places/callers.ts'
import { type FourPlaces, newFourPlaces, type Place, unknownPlace } from '../support/places/four-places.ts'
import { type Namings, namings, none } from '../support/places/named-places.ts'

interface RestrictedCaller extends Credentials {
  /** Places of which the caller sees nothing. */
  readonly hidden: readonly Place[]
  /** The place of the other ids in a request. */
  readonly beside?: Place
}

let harness: Harness
let all: FourPlaces
let callers: Readonly<Record<string, RestrictedCaller>>
let jobOfTwoRooms: string
beforeAll(async () => {
  // No scheduled task runs while the tests compare what is stored.
  harness = await startHarness({}, { taskPauseShare: 500 })
  harness.clock.fix(Date.now())
  all = await newFourPlaces(harness)
  const { own, foreign, withoutRegion, withoutLocation } = all
  const hidden = [foreign, withoutRegion, withoutLocation]
  const second = (await all.call('POST', '/rooms', { body: { name: 'Second', locationId: own.location } })).body.id
  await newEndpoint(harness, all, second)
  const target = { roomIds: [own.room, second] }
  const action = { type: 'MESSAGE', message: 'Hello.' }
  jobOfTwoRooms = (await all.call('POST', '/jobs', { body: { name: 'Hello', target, action } })).body.id
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

/**
 * The headers of a conditional request must make no difference either. One person and one key show it, on one database. Exports have
 * queries of their own, so both databases are asked for them.
 */
const conditions = ({ method, ifMatch }: Operation, callerName: string): Record<string, string>[] => {
  if (!/^(admin|key) of a region$/.test(callerName)) return [{}]
  if (engine !== 'sqlite') return method === 'GET' ? [{}, { accept: 'text/csv' }] : [{}]
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

let nextTurn = 0

/** Compares the answers of an operation to ids that callers do not see with those to ids that do not exist. */
async function expectSameAnswers(id: OperationId, inputsFor: Namings<OperationId>): Promise<void> {
  for (const at of inputsFor(unknownPlace, all).keys()) {
    const turn = nextTurn++
    for (const [name, caller] of sampleOf(Object.entries(callers), turn)) {
      const others = { ...all, own: caller.beside ?? all.own }
      const unknown = inputsFor(unknownPlace, others)[at] ?? {}
      // A caller is next after five turns, so its places and headers take turns by the fives.
      const round = Math.floor(turn / Object.keys(callers).length)
      for (const condition of sampleOf(conditions(operations[id], name), round)) {
        const expected = comparable(await send(id, caller, unknown, condition), unknownPlace)
        for (const place of sampleOf(caller.hidden, round)) {
          const input = inputsFor(place, others)[at] ?? {}
          const reply = await send(id, caller, input, condition)
          expect(comparable(reply, place), `${id} by ${name} ${JSON.stringify([input, condition])}`).toBe(expected)
        }
      }
    }
  }
}

/** Looking at all rows takes longer than the requests of an operation, so operations share a look: all of them in the short form. */
const groups = Map.groupBy(
  operationIds.filter((id) => namings[id] !== none),
  (id) => (isFullForm ? id.replace(/[A-Z].*/, '') : 'all operations'),
)

test.each([...groups])(
  '%s answer an id that the caller does not see like one that does not exist [contract 11.access]',
  (_noun, ids) =>
    leavesNoTrace(harness, async () => {
      for (const id of ids) await expectSameAnswers(id, namings[id] as Namings<OperationId>)
    }),
)

/** All operations whose answers have pages, except those that only callers with `manage` may use: these see everything. */
const pagedIds = operationIds.filter((id) => {
  const { query, manage }: Operation = operations[id]
  return query?.pageToken !== undefined && !manage
})

/** One of the incidents is about a device, and one about a room, which has no model. */
const incidentsByModel = { from: Date.now() - 86_400_000, to: Date.now() + 86_400_000, groupBy: 'model' }
const daysOfWeek = { from: '2026-02-02', to: '2026-02-09', groupBy: 'day' }

/** A request for a page that is not the last one. */
const firstPages: Partial<Record<OperationId, () => object>> = {
  auditLogs: () => ({ from: 0, to: Date.UTC(2100, 0) }),
  incidentsList: () => ({}),
  endpointsSensorHistory: () => ({ id: all.own.endpoint, from: 0, interval: 'raw' }),
  roomsSensorHistory: () => ({ id: all.own.room, from: 0, interval: 'raw' }),
  jobsList: () => ({}),
  jobsRoomsList: () => ({ id: jobOfTwoRooms }),
  reportsUse: () => daysOfWeek,
  reportsAir: () => daysOfWeek,
  reportsAvailability: () => daysOfWeek,
  reportsIncidents: () => incidentsByModel,
}

describe.each(pagedIds)('%s', (id) => {
  const turn = pagedIds.indexOf(id)
  const firstPage = () => ({ ...firstPages[id]?.(), pageSize: 1 })

  test("refuses another caller's page token like a forged one [contract 11.access]", async () => {
    const owners = {
      ...callers,
      'key of all regions': { key: all.key },
      'other admin of the region': await newSession(harness, all, 'admin', [all.own.region]),
    }
    const withLog = Object.entries(owners).filter(([name]) => id !== 'auditLogs' || /admin|key/.test(name))
    const owning = withLog.filter(([name]) => name !== 'admin of no region')
    for (const [ownerName, owner] of sampleOf(owning, turn, 2)) {
      const { nextPageToken } = (await send(id, owner, firstPage(), {})).body
      expect(nextPageToken, ownerName).not.toBe('')
      expect((await send(id, owner, { ...firstPage(), pageToken: nextPageToken }, {})).status, ownerName).toBe(200)
      const forged = { ...firstPage(), pageToken: nextPageToken.replaceAll(/[^.]/g, 'A') }
      const others = withLog.filter(([, other]) => other !== owner)
      for (const [name, caller] of sampleOf(others, turn, 2)) {
        const expected = comparable(await send(id, caller, forged, {}), unknownPlace)
        const reply = await send(id, caller, { ...firstPage(), pageToken: nextPageToken }, {})
        expect(comparable(reply, unknownPlace), `${ownerName} -> ${name}`).toBe(expected)
        if (name !== 'admin of no region' || !operations[id].path.includes('{id}')) expect(reply.status).toBe(400)
      }
    }
  })
})
