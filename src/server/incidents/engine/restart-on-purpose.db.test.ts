// Tests that devices which restart on purpose open no incident by their disconnects. [contract 12.when]
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { FindingsWatch } from '../../../../test/support/findings.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { minuteMs } from '../../../contract/durations.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(Date.UTC(2026, 4, 4, 8))
  org = await harness.newOrg()
})
afterAll(() => harness.close())

/** Writes that a reboot was sent now, with the usual deadline. */
const sendReboot = (endpointId: string) =>
  harness.services.db.systemTransaction(async ({ kysely }) => {
    const at = harness.clock.now()
    const times = { created_at: at, updated_at: at, sent_at: at, deadline: at + 5 * minuteMs }
    const row = { org: org.org.key, id: randomUUID(), endpoint_id: endpointId, payload: '{}', ...times }
    await kysely
      .insertInto('operations')
      .values({ ...row, type: 'REBOOT', state: 'SUCCEEDED' })
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
  await sendReboot(restarted.id)
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
