// Shared by the walks over all operations: lists of operations, and proof that a refused call leaves no trace.
import { expect } from 'vitest'
import type { Operation } from '../../src/contract/operation.ts'
import { type OperationId, operationIds, operations } from '../../src/contract/operations.ts'
import { timeLimits } from '../../src/server/core/time-limits.ts'
import type { Fixture } from '../support/fixture.ts'
import { freePort } from '../support/free-port.ts'
import { type Harness, type Reply, startHarness } from '../support/harness.ts'

export const operationOf = (id: OperationId): Operation => operations[id]
export const idsWhere = (is: (o: Operation) => boolean) => operationIds.filter((id) => is(operationOf(id)))
/** The turn of an operation, to choose cases for it with `sampleOf`. */
export const turnOf = (id: OperationId): number => operationIds.indexOf(id)
export const codeOf = (reply: Reply) => `${reply.status} ${reply.body?.code ?? 'OK'}`

/**
 * identityTest needs a public address. The clock stands still, so nothing of a fixture expires on a slow machine, and scheduled
 * tasks, which run for each of its many organisations, find nothing to do and need not look each second. channelsTest does not wait for them, nor
 * gatewayDevicesTest for a gateway.
 */
export async function startWalk(): Promise<Harness> {
  const port = await freePort()
  const limits = { ...timeLimits, channelTestMs: 2000, gatewayTestMs: 100 }
  const harness = await startHarness({ port, publicUrl: `http://127.0.0.1:${port}` }, { taskPauseShare: 500, limits })
  harness.clock.fix(Date.now())
  return harness
}

/** Runs attempts that must fail, and proves that they left no trace: an entry never goes, so one look afterwards sees all. */
export async function refused<T>(f: Fixture, attempts: () => Promise<T>): Promise<T> {
  const before = await newestEntry(f)
  const result = await attempts()
  expect(await newestEntry(f), 'a refused call leaves no audit entry').toEqual(before)
  return result
}

/** The whole log is long after hundreds of tests. */
export const newestEntry = async (f: Fixture) =>
  (await f.call('GET', '/audit/logs?from=2000-01-01&to=2100-01-01&pageSize=1')).body.logs[0]
