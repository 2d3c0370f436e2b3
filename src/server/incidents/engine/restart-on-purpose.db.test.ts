// Tests that devices which restart on purpose or are switched off open no incident by their disconnects. [contract 12.when] [contract 8.power]
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { FindingsWatch } from '../../../../test/support/findings.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { dayMs, hourMs, minuteMs } from '../../../contract/durations.ts'
import { powerPayload } from '../../fleet/commands/power.ts'
import { deleteOldCommands } from '../../fleet/commands/retention.ts'

type Row = Awaited<ReturnType<typeof putEndpoints>>[number]

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(Date.UTC(2026, 4, 4, 8))
  org = await harness.newOrg()
})
afterAll(() => harness.close())

/** Writes that a command was sent now, with the usual deadline. */
const sendCommand = (endpointId: string, type: 'REBOOT' | 'POWER', payload = '{}') =>
  harness.services.db.systemTransaction(async ({ kysely }) => {
    const at = harness.clock.now()
    const times = { created_at: at, updated_at: at, sent_at: at, deadline: at + 5 * minuteMs }
    const row = { org: org.org.key, id: randomUUID(), endpoint_id: endpointId, payload, ...times }
    await kysely
      .insertInto('operations')
      .values({ ...row, type, state: 'SUCCEEDED' })
      .execute()
  })
const disconnect = (number: number) =>
  harness.services.db.systemTransaction(async ({ kysely }) => {
    const until = harness.clock.now()
    const span = { org: org.org.key, endpoint: number, since: until - 1000, until, why: 'LOST' as const }
    await kysely.insertInto('connection_spans').values(span).execute()
  })

test('device.flapping counts neither the disconnect of a restart nor those of the 10 minutes after it', async () => {
  const watch = new FindingsWatch(harness, org)
  const rows = await putEndpoints(harness, org, [{ connected: 1 }, { connected: 1 }])
  const [restarted, flapping] = rows as [(typeof rows)[0], (typeof rows)[0]]
  for (const { number } of rows) {
    for (let i = 0; i < 3; i++) {
      harness.clock.advance(10_000)
      await disconnect(number)
    }
  }
  harness.clock.advance(minuteMs)
  await sendCommand(restarted.id, 'REBOOT')
  for (let i = 0; i < 3; i++) {
    harness.clock.advance(2 * minuteMs)
    await disconnect(restarted.number)
    await disconnect(flapping.number)
  }
  for (const run of ['quick', 'full'] as const) {
    await watch[run]()
    expect(watch.findings.map(({ subject }) => subject.id)).toEqual([flapping.id])
  }
  harness.clock.advance(6 * minuteMs)
  for (let i = 0; i < 3; i++) {
    harness.clock.advance(3 * minuteMs)
    await disconnect(restarted.number)
  }
  await watch.quick()
  const found = watch.findings.map(({ subject }) => subject.id)
  expect(new Set(found), 'later ones count').toEqual(new Set([flapping.id, restarted.id]))
})

test('a device that leaves the network after it was switched off opens nothing, however long it is away [contract 8.power]', async () => {
  const watch = new FindingsWatch(harness, org)
  const rows = await putEndpoints(
    harness,
    org,
    Array.from({ length: 4 }, () => ({ connected: 1, connection_time: harness.clock.now() })),
  )
  const [switchedOff, switchedOn, plain, late] = rows as [Row, Row, Row, Row]
  const leave = (...left: readonly Row[]) =>
    harness.services.db.systemTransaction(async ({ kysely }) => {
      const gone = { node_id: null, connection_time: harness.clock.now() }
      for (const { id } of left) await kysely.updateTable('endpoints').set(gone).where('id', '=', id).execute()
    })
  await sendCommand(switchedOff.id, 'POWER', JSON.stringify(powerPayload(false)))
  await sendCommand(switchedOn.id, 'POWER', JSON.stringify(powerPayload(true)))
  await sendCommand(late.id, 'POWER', JSON.stringify(powerPayload(false)))
  harness.clock.advance(minuteMs)
  await leave(switchedOff, switchedOn, plain)
  harness.clock.advance(6 * minuteMs)
  await leave(late)
  harness.clock.advance(hourMs)
  const offline = () => watch.findings.filter(({ rule }) => rule === 'device.offline').map(({ subject }) => subject.id)
  for (const run of ['quick', 'full'] as const) {
    await watch[run]()
    const own = new Set(rows.map(({ id }) => id))
    expect(new Set(offline().filter((id) => own.has(id))), run).toEqual(new Set([switchedOn.id, plain.id, late.id]))
  }
  harness.clock.advance(dayMs)
  await watch.full()
  expect(offline()).not.toContain(switchedOff.id)

  harness.clock.advance(100 * dayMs)
  await deleteOldCommands(harness.services)
  await watch.full()
  expect(offline(), 'old commands were deleted').not.toContain(switchedOff.id)
  const commandsOf = async ({ id }: Row) =>
    (await org.call('GET', `/endpoints/${id}/operations`)).body.operations.length
  expect([await commandsOf(switchedOff), await commandsOf(switchedOn), await commandsOf(late)]).toEqual([1, 0, 0])
})
