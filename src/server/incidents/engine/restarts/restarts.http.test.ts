// Restarts of the service with 500 devices: no incident while they come back, and one if most do not.
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { deviceOfRow, putEndpoints } from '../../../../../test/support/database/endpoint-rows.ts'
import { newPlace, quiet, TestClock } from '../../../../../test/support/harness.ts'
import { until } from '../../../../../test/support/program.ts'
import { dayMs, hourMs, minuteMs } from '../../../../contract/durations.ts'
import { type Service, startService } from '../../../app.ts'
import { tokenHash } from '../../../auth/token.ts'
import type { Org } from '../../../auth/token-holder.ts'
import { clearEndedNodes } from '../../../fleet/endpoints/ended-nodes.ts'
import { markConnected } from '../../../fleet/endpoints/presence.ts'
import { orgCreate } from '../../../journal/orgs/rules.ts'

const deviceCount = 500
type Row = Awaited<ReturnType<typeof putEndpoints>>[number]

/** Connects devices as their sessions do. */
async function connect({ services }: Service, org: Org, rows: readonly Row[]): Promise<void> {
  const since = services.clock.now()
  for (const row of rows) {
    const presence = await markConnected(services, {
      device: deviceOfRow(org, row),
      since,
      credentialHash: tokenHash(row.id).toString('hex'),
      nodeId: 0,
      number: 0,
    })
    expect(presence).toBeDefined()
  }
}

test.for([
  { stop: 'of an hour', stopMs: hourMs },
  { stop: 'of three days', stopMs: 3 * dayMs },
])(
  'a restart with 500 devices is no incident; one after which 400 are gone is one, after a stop $stop [contract 10.start]',
  async ({ stopMs }) => {
    const { place, remove } = await newPlace({ hasTables: true })
    const clock = new TestClock()
    const start = () => startService({ ...quiet, ...place, stopDelaySeconds: 0 }, pino({ level: 'silent' }), { clock })
    let service = await start()
    onTestFinished(async () => {
      await service.close()
      await remove()
    })
    const org = await orgCreate(service.services, { type: 'SYSTEM', id: 'test', name: 'Test' }, 'Example')
    const rows = await putEndpoints(
      service,
      { org },
      Array.from({ length: deviceCount }, () => ({ connection_time: clock.now(), connected: 0 })),
    )
    await service.services.db.systemTransaction(({ kysely }) =>
      kysely
        .insertInto('credential_directory')
        .values(rows.map(({ id }) => ({ hash: tokenHash(id), org: org.key, endpoint_id: id })))
        .execute(),
    )
    await connect(service, org, rows)

    const restart = async () => {
      await service.close()
      clock.advance(stopMs)
      service = await start()
      return clock.now()
    }
    const read = () => service.services.db.system.kysely
    const judgedAfter = (at: number) =>
      until('the restart is judged', async () => {
        const rows = read().selectFrom('incident_progress').select('judged_until').where('org', '=', org.key)
        const progress = await rows.executeTakeFirst()
        return (progress?.judged_until ?? 0) > at
      })
    const listIncidents = () => read().selectFrom('incidents').select(['id', 'level', 'state', 'detail']).execute()

    const first = await restart()
    await connect(service, org, rows.slice(0, 300))
    clock.advance(9 * minuteMs)
    await connect(service, org, rows.slice(300))
    clock.advance(2 * minuteMs)
    await judgedAfter(first)
    expect(await listIncidents()).toEqual([])

    const second = await restart()
    await connect(service, org, rows.slice(0, 100))
    clock.advance(9 * minuteMs)
    await clearEndedNodes(service.services, new AbortController().signal)
    const startedAt = performance.now()
    await until('the engine has run', () => performance.now() - startedAt > 1500)
    expect(await listIncidents(), 'before the devices had their time').toEqual([])
    clock.advance(2 * minuteMs)
    await judgedAfter(second)
    const [incident, ...others] = await listIncidents()
    expect(others).toEqual([])
    expect(incident).toMatchObject({ level: 'ORGANISATION', state: 'OPEN' })
    expect(JSON.parse(incident?.detail ?? '')).toMatchObject({ restart: { connectedBefore: deviceCount } })
    const { count } = await read()
      .selectFrom('incident_subjects')
      .select((e) => e.fn.countAll<number | string>().as('count'))
      .executeTakeFirstOrThrow()
    expect(Number(count)).toBe(400)
  },
)

test('time in which the service was down does not count for a condition that only runs of the engine can see [contract 10.finding]', async () => {
  const { place, remove } = await newPlace({ hasTables: true })
  const clock = new TestClock()
  clock.fix(Date.UTC(2026, 4, 4, 8))
  const start = () => startService({ ...quiet, ...place, stopDelaySeconds: 0 }, pino({ level: 'silent' }), { clock })
  let service = await start()
  onTestFinished(async () => {
    await service.close()
    await remove()
  })
  const org = await orgCreate(service.services, { type: 'SYSTEM', id: 'test', name: 'Test' }, 'Example')
  const status = JSON.stringify({ totalSystemStorage: '1000', freeSystemStorage: '10' })
  await putEndpoints(service, { org }, [{ connection_time: clock.now(), connected: 1, status }])
  const read = () => service.services.db.system.kysely
  const finding = async () => {
    const row = await read().selectFrom('findings').selectAll().where('rule', '=', 'storage.low').executeTakeFirst()
    return row && { since: row.since, detail: JSON.parse(row.detail) }
  }
  const ranAt = async () => {
    const rows = read().selectFrom('incident_progress').select('looked_at').where('org', '=', org.key)
    return (await rows.executeTakeFirst())?.looked_at
  }
  const hasRun = () => until('the engine has run', async () => (await ranAt()) === clock.now())
  clock.advance(minuteMs)
  await until('it has begun', finding)
  const since = clock.now()
  clock.advance(10 * minuteMs)
  await hasRun()
  await service.close()
  clock.advance(hourMs)
  service = await start()
  const node = { node_id: service.services.node?.id ?? null, connection_time: clock.now() }
  await service.services.db.systemTransaction(({ kysely }) => kysely.updateTable('endpoints').set(node).execute())
  service.services.db.invalidateAll()
  clock.advance(minuteMs)
  const countsFrom = await until('it is seen again', async () => (await finding())?.detail.countsFrom)
  expect(countsFrom).toBeGreaterThanOrEqual(since + hourMs)
  expect(countsFrom).toBeLessThanOrEqual(since + hourMs + minuteMs)
})
