// Judges restarts of several nodes by the rows that they left: how many devices were connected, and how many are missing. [contract 10.start]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../../../test/support/database/endpoint-rows.ts'
import { type Harness, startHarness } from '../../../../../../test/support/harness.ts'
import { hourMs, minuteMs, secondMs } from '../../../../../contract/durations.ts'
import { ReturningDevices } from './returning-devices.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const settleMs = 10 * minuteMs

/** Adds the rows of nodes that ended before this one started. */
async function endNodes(...ends: number[]): Promise<number[]> {
  const { db } = harness.services
  const { id: _, ...own } = await db.system.kysely.selectFrom('nodes').selectAll().executeTakeFirstOrThrow()
  const ids: number[] = []
  for (const ended_at of ends) {
    const node = { ...own, process: `node ${ended_at} ${ids.length}`, state: 'left' as const, ended_at }
    const started_at = ended_at - hourMs
    const { id } = await db.systemTransaction(({ kysely }) =>
      kysely
        .insertInto('nodes')
        .values({ ...node, started_at })
        .returning('id')
        .executeTakeFirstOrThrow(),
    )
    ids.push(id)
  }
  return ids
}

test('a device that went from node to node while they stopped counts once, and most of them are missing', async () => {
  const org = await harness.newOrg()
  const { db } = harness.services
  const { started_at: start } = await db.system.kysely
    .selectFrom('nodes')
    .select('started_at')
    .where('state', '=', 'up')
    .executeTakeFirstOrThrow()
  const ends = [start - 60 * secondMs, start - 40 * secondMs, start - 40 * secondMs, start - 20 * secondMs]
  const [, , , last] = await endNodes(...ends)
  // All devices ended up at the last node, and 4 of 10 are back.
  const rows = await putEndpoints(harness, org, [
    ...Array.from({ length: 6 }, () => ({ node_id: last ?? 0, connection_time: start - 35 * secondMs })),
    ...Array.from({ length: 4 }, () => ({ connected: 1, connection_time: start + secondMs })),
  ])
  const spans = rows.flatMap(({ number }, i) =>
    [ends[0], ends[1], ...(i < 6 ? [] : [ends[3]])].map((until = 0) => ({
      org: org.org.key,
      endpoint: number,
      since: until - 10 * secondMs,
      until,
      why: 'SERVER_ENDED' as const,
    })),
  )
  await db.systemTransaction(({ kysely }) => kysely.insertInto('connection_spans').values(spans).execute())
  const on = db.forOrg(org.org.key)
  const judged = await (await ReturningDevices.read(db.system, on, start + settleMs, settleMs)).judge(on)
  expect(judged?.failedRestarts).toMatchObject([{ connectedBefore: 10, missing: { size: 6 } }])
})
