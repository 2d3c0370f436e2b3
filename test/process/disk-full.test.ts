// Readiness while the disk of the database is full: /readyz says so, reads go on, and it becomes ready by itself.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { diskOf } from '../support/database/full-disk.ts'
import { startHarness } from '../support/harness.ts'
import { until } from '../support/program.ts'

test('/readyz is 503 with the reason while the disk is full, and 200 once there is space, without anybody writing [contract 2.5]', async () => {
  const harness = await startHarness()
  onTestFinished(() => harness.close())
  const org = await harness.newOrg()
  const disk = diskOf(harness)
  const readyz = () => harness.call('GET', '/readyz')
  const settings = () =>
    harness.services.db.system.kysely.selectFrom('settings').select('name').orderBy('name').execute()
  const settingsBefore = await settings()
  const readyMetric = async () => /^roomkeeper_ready (\d)$/m.exec((await harness.call('GET', '/metrics')).text)?.[1]
  expect((await readyz()).status).toBe(200)
  expect(await readyMetric()).toBe('1')

  await disk.fill()
  await until('a write is refused', async () => {
    const { status } = await org.call('POST', '/regions', { body: { name: 'x'.repeat(100) } })
    return status === 503
  })
  // Several probes fail during that time: none of them may call the service ready.
  const end = performance.now() + 2500
  while (performance.now() < end) {
    const full = await readyz()
    expect(full.body).toMatchObject({ status: 503, code: 'UNAVAILABLE' })
    expect(full.body.message).toBe('The disk of the database is full, and nothing can be written. Free some space.')
    expect(full.headers.get('retry-after')).toBe('5')
    expect((await harness.call('GET', '/livez')).status).toBe(200)
    expect((await org.call('GET', '/regions')).status, 'reads go on').toBe(200)
    await pause(100)
  }

  expect(await readyMetric()).toBe('0')
  await disk.free()
  await until('it is ready', async () => (await readyz()).status === 200)
  expect((await org.call('POST', '/regions', { body: { name: 'space again' } })).status).toBe(200)
  expect(await settings(), 'the probe leaves nothing behind').toEqual(settingsBefore)
})
