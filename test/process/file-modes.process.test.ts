// Files of the data folder are readable by their owner alone, in a folder that others may look into.
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { engine, send } from '../support/harness.ts'
import { expectDone, newSite, type Server, type Site } from '../support/program.ts'

/** By name below the data folder. */
function modesIn(site: Site): Record<string, string> {
  const entries = readdirSync(site.dataDir, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(entries.map((name) => [name, modeOf(join(site.dataDir, name))]))
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

const write = ({ url, org, key }: Pick<Server, 'url' | 'org' | 'key'>) =>
  send(url, 'POST', `/v1/orgs/${org}/regions`, { key, body: { name: 'Europe' } })

const database = ['roomkeeper.db', 'roomkeeper.db-shm', 'roomkeeper.db-wal']
const running =
  engine === 'sqlite'
    ? [...database, 'secret.key', 'server.json', 'server.lock', 'server.lock-journal'].sort()
    : ['secret.key', 'server.json']

/** The second test goes on with the server of the first one. */
let site: Site
let first: Server
beforeAll(async () => {
  site = await newSite({}, { hasTables: false })
  chmodSync(site.dataDir, 0o755)
  first = await site.serve()
})
afterAll(() => site.close())

test('a new database in a folder that everybody may read has files of mode 0600', async () => {
  expect((await write(first)).status).toBe(200)
  const modes = modesIn(site)
  expect(Object.keys(modes)).toEqual(expect.arrayContaining(running.filter((name) => !name.endsWith('-journal'))))
  expect(new Set(Object.values(modes)), JSON.stringify(modes)).toEqual(new Set(['600']))
  expect(modeOf(site.dataDir), 'the folder is as its owner made it').toBe('755')
})

test('a start tightens what an earlier release or a restored backup left readable, while it is read on', async () => {
  // Killed, so that SQLite leaves its -wal and -shm behind.
  await first.stop('SIGKILL')
  chmodSync(site.dataDir, 0o755)
  const reports = join(site.dataDir, 'bundles', '1', 'REPORT')
  mkdirSync(reports, { recursive: true })
  writeFileSync(join(reports, 'logs.gz'), 'logs')
  for (const name of readdirSync(site.dataDir, { recursive: true, encoding: 'utf8' })) {
    chmodSync(join(site.dataDir, name), statSync(join(site.dataDir, name)).isDirectory() ? 0o755 : 0o644)
  }
  const before = modesIn(site)
  if (engine === 'sqlite') for (const name of database) expect(before, name).toHaveProperty([name], '644')

  // A command first: it opens the database as the server does.
  expectDone(await site.run('org', 'list'))
  const wide = Object.entries(modesIn(site)).filter(([, mode]) => mode !== '600' && mode !== '700')
  expect(wide).toEqual([])

  const later = { ...(await site.serveHere()), org: first.org, key: first.key }
  expect((await write(later)).status).toBe(200)
  const modes = modesIn(site)
  const folders = Object.entries(modes).filter(([, mode]) => mode === '700')
  expect(folders.map(([name]) => name)).toEqual(expect.arrayContaining(['bundles']))
  const files = Object.entries(modes).filter(([name]) => statSync(join(site.dataDir, name)).isFile())
  expect(files.filter(([, mode]) => mode !== '600')).toEqual([])
  const { body } = await send(later.url, 'GET', `/v1/orgs/${first.org}/regions`, { key: first.key })
  expect(body.regions, 'what was there is read on').toHaveLength(2)
})
