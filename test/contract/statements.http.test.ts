// Tests that a person costs the database no more than a key: the statements of every read, and of audited writes. [contract 11.user]
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Operation } from '../../src/contract/operation.ts'
import { type OperationId, operations } from '../../src/contract/operations.ts'
import { Handle } from '../../src/server/db/handles.ts'
import { perform } from '../support/contract/calls.ts'
import { type Fixture, newFixture } from '../support/fixture.ts'
import type { Harness } from '../support/harness.ts'
import { type Credentials, newApiKey, newSession } from '../support/places/callers.ts'
import { idsWhere, startWalk } from './walk-calls.ts'

let harness: Harness
let f: Fixture
/** A key and a person who may do and see the same. */
type Pair = readonly [key: Credentials, person: Credentials]
let pairs: Readonly<Record<string, Pair>>
const pairOf = (name: string): Pair => pairs[name] ?? [{}, {}]
beforeAll(async () => {
  harness = await startWalk()
  // No scheduled task becomes due, and a caller that was looked up stays cached, until a test says otherwise.
  harness.clock.fix(Date.now())
  f = await newFixture(harness)
  const scopes = ['read', 'write'] as const
  pairs = {
    'the whole organisation': [await newApiKey(f, { scopes, manage: true }), await newSession(harness, f, 'owner')],
    'one region': [
      await newApiKey(f, { scopes, regionIds: [f.region] }),
      await newSession(harness, f, 'admin', [f.region]),
    ],
  }
})
afterAll(() => harness.close())

async function countStatements(id: OperationId, caller: Credentials, isKnown: boolean): Promise<number> {
  if (!isKnown) harness.services.keysChanged()
  const run = vi.spyOn(Handle.prototype, 'run')
  const reply = await perform(harness, f, id, caller)
  const count = run.mock.calls.length
  run.mockRestore()
  expect(reply.status, reply.text).toBe(200)
  return count
}

/** Other work may run beside a request, and only adds to its count: the smallest of several counts is that of the request. */
async function compareStatements(id: OperationId, [key, person]: Pair, isKnown: boolean) {
  const least = { key: Number.POSITIVE_INFINITY, person: Number.POSITIVE_INFINITY }
  for (let i = 0; i < 20 && (i < 2 || least.key !== least.person); i++) {
    least.key = Math.min(least.key, await countStatements(id, key, isKnown))
    least.person = Math.min(least.person, await countStatements(id, person, isKnown))
  }
  return least
}

const reads = idsWhere(({ method, person, stream, download }) => method === 'GET' && !person && !stream && !download)
const isForOneRegion = (id: OperationId) => {
  const { manage, everywhere }: Operation = operations[id]
  return !manage && !everywhere
}

describe.each(['the whole organisation', 'one region'])('%s', (pair) => {
  const ids = pair === 'one region' ? reads.filter(isForOneRegion) : reads

  test.each([true, false])(
    'a read by a person costs the statements of a read with a key (known caller: %s)',
    async (isKnown) => {
      const costs: Record<string, { key: number; person: number }> = {}
      for (const id of ids) costs[id] = await compareStatements(id, pairOf(pair), isKnown)
      const unequal = Object.entries(costs).filter(([, { key, person }]) => key !== person)
      expect(unequal).toEqual([])
      expect(Object.keys(costs).length).toBeGreaterThan(20)
    },
  )

  test.each(['locationsUpdate', 'roomsUpdate', 'roomNotesCreate', 'endpointsApplyConfig'] as const)(
    '%s by a person costs at most one statement more than with a key',
    async (id) => {
      const { key, person } = await compareStatements(id, pairOf(pair), true)
      expect(key).toBeGreaterThan(3)
      expect(person).toBeLessThanOrEqual(key + 1)
    },
  )
})
