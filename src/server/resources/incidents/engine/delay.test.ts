// How soon an incident opens among 10,000 devices.
import { expect, onTestFinished, test } from 'vitest'
import { putEndpoints } from '../../../../../test/support/database/endpoint-rows.ts'
import { startHarness } from '../../../../../test/support/harness.ts'
import { until } from '../../../../../test/support/program.ts'
import { minuteMs } from '../../../../contract/durations.ts'

const deviceCount = 10_000
const maxDelayMs = 2000

test('among 10,000 devices one that is offline long enough is an incident within 2 seconds [contract 10.cause]', async () => {
  const harness = await startHarness({ settleMinutes: 0 })
  onTestFinished(() => harness.close())
  const org = await harness.newOrg()
  const connected = { connected: 1, connection_time: harness.clock.now() }
  const rows = await putEndpoints(
    harness,
    org,
    Array.from({ length: deviceCount }, () => connected),
  )
  harness.clock.advance(6 * minuteMs)
  const { db } = harness.services
  const isJudged = async () => {
    const row = await db.system.kysely
      .selectFrom('incident_progress')
      .select('judged_until')
      .where('org', '=', org.org.key)
      .executeTakeFirst()
    return row !== undefined
  }
  await until('the first run, which reads everything, has ended', isJudged)
  const dueAt = harness.clock.now() + 1000
  await db.systemTransaction(({ kysely }) =>
    kysely
      .updateTable('endpoints')
      .set({ node_id: null, connection_time: dueAt - 5 * minuteMs })
      .where('org', '=', org.org.key)
      .where('id', '=', rows[0]?.id ?? '')
      .execute(),
  )
  const [incident] = await until('the incident is open', async () => {
    const { incidents } = (await org.call('GET', '/incidents')).body
    return incidents.length > 0 && incidents
  })
  expect(harness.clock.now() - dueAt).toBeLessThan(maxDelayMs)
  expect(incident).toMatchObject({ rule: 'device.offline', cause: { id: rows[0]?.id } })
})
