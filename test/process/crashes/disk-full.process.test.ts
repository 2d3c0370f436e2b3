// A full disk under the database: /readyz says so, reads go on, a killed server starts, and it becomes ready by itself.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { countCpuWaits } from '../../support/cpu-time.ts'
import { type Disk, diskOf, fullPostgres } from '../../support/database/full-disk.ts'
import { mountSmallDisk } from '../../support/database/small-disk.ts'
import { freePort } from '../../support/free-port.ts'
import { startHarness } from '../../support/harness.ts'
import { ready, type Site, siteForTest, until, untilPrinted } from '../../support/program.ts'

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

/** SQLite needs a disk that is really full: a file system of its own. PostgreSQL says that its disk is full. */
async function fullDiskAt(context: TestContext, site: Site): Promise<Disk & { readonly starter: readonly string[] }> {
  if (site.databaseUrl) return { ...fullPostgres(site.databaseUrl, ['nodes']), starter: [] }
  const disk = await mountSmallDisk(context, site.dataDir, 8)
  return { starter: disk.starter, fill: async () => disk.fill(), free: async () => disk.free() }
}

test('a server that was killed starts on a full disk: /livez is 200, /readyz a 503 with the reason, the rest 503, and it is ready within 10 s after there is space [contract 2.5]', async (context) => {
  const site = await siteForTest()
  const disk = await fullDiskAt(context, site)
  const port = await freePort()
  const healthPort = await freePort()
  const args = ['serve', '--port', `${port}`, '--health-port', `${healthPort}`, ...site.flags]
  const start = () => site.launch(args, { starter: disk.starter, hasOwnDisk: !site.databaseUrl })
  const first = await ready(start())
  const api = `${first.url}/v1/orgs/${first.org}`
  const headers = { authorization: `Bearer ${first.key}`, 'content-type': 'application/json' }
  const create = (name: string) => fetch(`${api}/regions`, { method: 'POST', headers, body: JSON.stringify({ name }) })
  const names = async () => {
    const { regions } = (await (await fetch(`${api}/regions`, { headers })).json()) as { regions: { name: string }[] }
    return regions.map(({ name }) => name)
  }
  expect((await create('before')).status).toBe(200)
  await first.stop('SIGKILL')
  await disk.fill()

  const second = start()
  const status = (url: string) =>
    fetch(url).then(
      (answer) => answer.status,
      () => undefined,
    )
  await until('/livez is 200', async () => (await status(`${first.url}/livez`)) === 200, { timeoutMs: 60_000 })
  expect(await status(`http://127.0.0.1:${healthPort}/livez`)).toBe(200)
  for (const url of [
    `${first.url}/readyz`,
    `http://127.0.0.1:${healthPort}/readyz`,
    `${api}/regions`,
    `${first.url}/`,
    `${first.url}/nowhere`,
  ]) {
    const answer = await fetch(url, { headers })
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(await answer.json(), url).toMatchObject({
      status: 503,
      code: 'UNAVAILABLE',
      message: 'The disk of the database is full, and the server starts when there is space. Free some space.',
      requestId: answer.headers.get('x-request-id'),
    })
  }
  expect((await create('while full')).status).toBe(503)
  const { code } = await second.stop()
  expect(code, 'a server that waits for space stops when it is told to').toBe(0)

  // A server with a disk of its own needs a process.
  const third = site.databaseUrl ? site.launchHere([...args, '--mqtt-port', '0', '--log-level', 'silent']) : start()
  await until('/readyz is 503', async () => (await status(`${first.url}/readyz`)) === 503, { timeoutMs: 60_000 })
  await disk.free()
  const freedAt = performance.now()
  const cpuWaitMs = countCpuWaits(...('pid' in third ? [Number(third.pid)] : []))
  await until('it is ready', async () => (await status(`${first.url}/readyz`)) === 200, { timeoutMs: 60_000 })
  expect(performance.now() - freedAt).toBeLessThan(10_000 + cpuWaitMs())
  await untilPrinted(third, /^Roomkeeper is ready at /m)
  expect(await status(`http://127.0.0.1:${healthPort}/readyz`)).toBe(200)
  expect(await names()).toEqual(['before'])
  expect((await create('after')).status).toBe(200)
})
