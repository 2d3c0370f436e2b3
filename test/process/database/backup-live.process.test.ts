// Backups while the server writes: the restored state is that of a moment of the past, shown by answers of the API.
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync, truncateSync, watch, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { cookieOf, own } from '../../support/console/console-session.ts'
import { engine, send } from '../../support/harness.ts'
import { isFullForm } from '../../support/long-form.ts'
import { emptySiteForTest, expectDone, expectRefusal, type Server, siteForTest, until } from '../../support/program.ts'

const writesPerSecond = 20

/** Creates regions at an even pace until it is stopped; counts requests that were sent and that were answered. */
function startWrites({ url, org, key }: Server) {
  const counts = { sent: 0, answered: 0 }
  let isStopped = false
  const run = async () => {
    const startedAt = performance.now()
    while (!isStopped) {
      const body = { name: `Region ${++counts.sent}` }
      expect((await send(url, 'POST', `/v1/orgs/${org}/regions`, { key, body })).status).toBe(200)
      counts.answered++
      await pause(Math.max(0, startedAt + (counts.sent * 1000) / writesPerSecond - performance.now()))
    }
  }
  const running = run()
  return {
    counts,
    stop: () => {
      isStopped = true
      return running
    },
  }
}

test('a backup during 20 writes a second finishes, and its restored state equals a moment of the past', async () => {
  const [site, other] = [await siteForTest(), await emptySiteForTest()]
  const server = await site.serve()
  const { key, org } = server
  const link = (await site.json('login-link')).url.split('#')[1]
  const session = await send(server.url, 'POST', '/console/session', { body: { link }, headers: own })
  const headers = { ...own, cookie: cookieOf(session) }
  const isSignedIn = async (url: string) =>
    (await send(url, 'GET', `/v1/orgs/${org}/regions`, { headers })).status === 200
  expect(await isSignedIn(server.url)).toBe(true)

  const file = join(dirname(site.dataDir), 'backup.tar')
  const writes = startWrites(server)
  await until('some writes', () => writes.counts.answered >= 5)
  const answeredBefore = writes.counts.answered
  expectDone(await site.run('backup', file))
  const sentAfter = writes.counts.sent
  await until('more writes', () => writes.counts.answered >= sentAfter + 5)
  await writes.stop()
  expect(writes.counts.answered, 'writes went on during the backup').toBeGreaterThan(answeredBefore + 5)
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  expect(readdirSync(dirname(file)), 'nothing else is left').toEqual(['backup.tar', 'data'])
  const read = async (url: string) => {
    const { regions } = (await send(url, 'GET', `/v1/orgs/${org}/regions`, { key })).body
    const at = `/v1/orgs/${org}/audit/logs?from=2000-01-01&to=2999-01-01&pageSize=1000`
    const { logs } = (await send(url, 'GET', at, { key })).body
    return { regions, logs: logs.reverse() }
  }
  const now = await read(server.url)

  copyFileSync(site.secretKeyFile, other.secretKeyFile)
  const restored = await other.run('restore', file)
  expectDone(restored)
  expect(restored.stdout).toMatch(/^audit log {3}ok: the \d+ entries of /m)
  expect(restored.stdout).toMatch(/may be given again, keys that were revoked after it work again/)
  const copy = await other.serveHere()
  const then = await read(copy.url)
  const count = then.regions.length
  expect(count).toBeGreaterThanOrEqual(answeredBefore)
  expect(count).toBeLessThanOrEqual(sentAfter)
  expect(now.regions.slice(0, count)).toEqual(then.regions)
  expect(now.logs.slice(0, then.logs.length)).toEqual(then.logs)
  expect(await isSignedIn(copy.url), 'sessions have ended').toBe(false)
  const again = await send(copy.url, 'POST', `/v1/orgs/${org}/regions`, { key, body: { name: 'New' } })
  expect(again.body.id, 'an id that was given after the backup is given again').toBe(count + 1)
})

/** Resolves as soon as a file with such a name is made in the folder. */
const fileAppears = (folder: string, pattern: RegExp) =>
  new Promise<void>((resolve) => {
    const watcher = watch(folder, (_, name) => {
      if (name === null || !pattern.test(name)) return
      watcher.close()
      resolve()
    })
  })

// The file is made in the same way on both databases.
test.runIf(engine === 'sqlite' || isFullForm)(
  'a backup that is killed leaves no file under its name, and the next one works',
  async () => {
    const site = await siteForTest()
    expectDone(await site.run('org', 'create', 'One'))
    const folder = dirname(site.dataDir)
    const file = join(folder, 'backup.tar')
    const hasBegun = fileAppears(folder, /\.unfinished-/)
    const program = site.launch(['backup', file, ...site.flags])
    await hasBegun
    await program.stop('SIGKILL')
    expect(existsSync(file)).toBe(false)
    expectDone(await site.run('backup', file))
    expect(existsSync(file)).toBe(true)
  },
)

const signals = ['SIGINT', 'SIGTERM'] as const

test('a backup and a restore that are stopped by a signal say so and leave nothing', async () => {
  const [site, other] = [await siteForTest(), await emptySiteForTest()]
  expectDone(await site.run('org', 'create', 'One'))
  const bundle = join(site.dataDir, 'bundles/1/abc/large.zip')
  mkdirSync(dirname(bundle), { recursive: true })
  writeFileSync(bundle, '')
  truncateSync(bundle, 100_000_000)
  const folder = dirname(site.dataDir)
  const file = join(folder, 'backup.tar')
  const options = ['--with-secret', '--with-bundles']
  const checked = await site.run('check')
  expect(checked.stdout).toMatch(/^audit log {3}ok: the 1 entry of \w+ is verified\.$/m)
  expect(checked.stdout).toMatch(/^secret key {2}ok: the key fits, and opens 0 encrypted values\.$/m)
  for (const signal of isFullForm ? signals : signals.slice(0, 1)) {
    const hasBegun = fileAppears(folder, /\.unfinished-/)
    const backup = site.launch(['backup', file, ...options, ...site.flags])
    await hasBegun
    expectRefusal(await backup.stop(signal), new RegExp(`^Stopped by ${signal}\\. No backup was made\\.$`, 'm'))
    expect(readdirSync(folder)).toEqual(['data'])
  }
  const done = await site.run('backup', file, ...options)
  expectDone(done)
  expect(done.stdout).toMatch(/ bytes, with 1 log bundle\.$/m)
  for (const signal of isFullForm ? signals : signals.slice(1)) {
    const hasBegun = fileAppears(other.dataDir, /^restore-/)
    const restore = other.launch(['restore', file, ...other.flags])
    await hasBegun
    expectRefusal(await restore.stop(signal), new RegExp(`^Stopped by ${signal}\\. Nothing was restored\\.$`, 'm'))
    expect(readdirSync(other.dataDir).filter((name) => name !== 'server.lock')).toEqual([])
  }
})
