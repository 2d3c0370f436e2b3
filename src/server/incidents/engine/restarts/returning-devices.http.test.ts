// Judges restarts of several nodes by the rows that they left: how many devices were connected, and how many are missing. [contract 10.start]
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { putEndpoints } from '../../../../../test/support/database/endpoint-rows.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { until } from '../../../../../test/support/program.ts'
import { hourMs, minuteMs, secondMs } from '../../../../contract/durations.ts'
import { insertNode } from '../../../nodes/store.ts'
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
  // Devices that sleep may have gone to sleep meanwhile, so they count neither as connected before nor as missing.
  const mayBeAsleep = (['RESTING', 'AWAKE'] as const).flatMap((rest) => Array(10).fill({ rest }))
  await putEndpoints(
    harness,
    org,
    mayBeAsleep.map((values) => ({ ...values, node_id: last ?? 0, connection_time: start - 35 * secondMs })),
  )
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

test('when a node dies beside a living one, its devices have 10 minutes; then one incident names the node, unless half are back [contract 10.start]', async () => {
  const service = await startHarness({}, quickTasks)
  onTestFinished(() => service.close())
  const { db, node } = service.services
  const [lost, halfBack] = [await service.newOrg(), await service.newOrg()]
  const diedAt = service.clock.now()
  const dead = await db.systemTransaction(async (on) => {
    // The service has been up for an hour.
    const own = on.kysely.updateTable('nodes').set({ started_at: diedAt - hourMs })
    await own.where('id', '=', node?.id ?? 0).execute()
    return (await insertNode(on, { name: 'east', process: 'east', version: '0', at: diedAt - hourMs }))?.id ?? 0
  })
  const since = diedAt - 30 * minuteMs
  const connected = Array.from({ length: 10 }, () => ({ node_id: dead, connection_time: since }))
  await putEndpoints(service, lost, connected)
  const rows = await putEndpoints(service, halfBack, connected)
  const back = rows.slice(0, 5)
  await db.systemTransaction(async ({ kysely }) => {
    await kysely.updateTable('nodes').set({ state: 'dead', ended_at: diedAt }).where('id', '=', dead).execute()
    const span = { org: halfBack.org.key, since, until: diedAt, why: 'SERVER_ENDED' as const }
    await kysely
      .insertInto('connection_spans')
      .values(back.map(({ number }) => ({ ...span, endpoint: number })))
      .execute()
    await kysely
      .updateTable('endpoints')
      .set({ node_id: node?.id ?? null, connection_time: diedAt + secondMs })
      .where(
        'id',
        'in',
        back.map(({ id }) => id),
      )
      .execute()
  })
  db.invalidateAll()
  const incidents = async (org: TestOrg) => (await org.call('GET', '/incidents?state=all')).body.incidents
  service.clock.advance(9 * minuteMs)
  const startedAt = performance.now()
  await until('the engine has run', () => performance.now() - startedAt > 1500)
  expect([...(await incidents(lost)), ...(await incidents(halfBack))]).toEqual([])
  service.clock.advance(2 * minuteMs)
  const [incident, ...others] = await until('the incident is open', async () => {
    const all = await incidents(lost)
    return all.length > 0 && all
  })
  expect(others).toEqual([])
  expect(incident).toMatchObject({
    cause: { level: 'ORGANISATION' },
    openSubjectCount: 10,
    title: '10 devices did not come back after node east ended',
  })
  const single = await until('the others are incidents of their own', async () => {
    const all = await incidents(halfBack)
    return all.length === 5 && all
  })
  expect(new Set(single.map(({ cause }: { cause: { level: string } }) => cause.level))).toEqual(new Set(['ENDPOINT']))
})
