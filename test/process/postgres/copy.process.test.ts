// roomkeeper copy: everything from PostgreSQL to SQLite and back, verified, or nothing at all.
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { startService } from '../../../src/server/app.ts'
import { openDatabase } from '../../../src/server/db/open.ts'
import { orgCreate } from '../../../src/server/journal/orgs/rules.ts'
import { copyDatabase } from '../../../src/server/maintenance/copy-database.ts'
import { createDatabase, dropDatabase } from '../../support/database/postgres-tables.ts'
import { contentOf, fillEveryTable } from '../../support/database/whole-database.ts'
import type { Fixture } from '../../support/fixture.ts'
import { type Harness, quiet, send, startHarness } from '../../support/harness.ts'
import { expectDone, expectRefusal, Program } from '../../support/program.ts'
import { runHere } from '../../support/run-here.ts'

let harness: Harness
let fixture: Fixture
let secretKeyFile: string

beforeAll(async () => {
  harness = await startHarness()
  fixture = await fillEveryTable(harness)
  secretKeyFile = join(harness.place.dataDir, 'secret.key')
})
afterAll(() => harness.close())

function folderForTest({ hasKey = true } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  if (hasKey) copyFileSync(secretKeyFile, join(folder, 'secret.key'))
  return folder
}

/** A database with tables saves the migrations. */
async function postgresForTest(dataDir: string, { hasTables = true } = {}) {
  const tables = hasTables ? inject('postgresTables') : undefined
  const { name, databaseUrl } = await createDatabase(inject('postgresUrl'), tables)
  onTestFinished(() => dropDatabase(inject('postgresUrl'), name))
  return { dataDir, databaseUrl }
}

const noReport = () => {}
/** The source stays as it is for the next test; copied-source.test.ts is about the mark. */
const rehearsal = { isRehearsal: true }

test('a copy wants a source without a server', async () => {
  const refused = copyDatabase({
    from: harness.place,
    to: { dataDir: folderForTest() },
    secretKeyFile,
    onCopied: noReport,
  })
  await expect(refused).rejects.toThrow('A server is running on the source. Stop it first.')
})

test('a copy from SQLite is refused while its server runs', async () => {
  const dataDir = folderForTest()
  const service = await startService({ ...quiet, dataDir }, pino({ level: 'silent' }))
  onTestFinished(() => service.close())
  const to = await postgresForTest(dataDir)
  const refused = copyDatabase({ from: { dataDir }, to, secretKeyFile, onCopied: noReport })
  await expect(refused).rejects.toThrow('A server is running on the source. Stop it first.')
})

test('copies to SQLite and back to PostgreSQL have the rows of every table, and serve what was served', async () => {
  const bundleText = async (url: string) => {
    const path = `/v1/orgs/${fixture.id}/bug_reports/${fixture.supportId}/files/${fixture.endpoint}.log.gz`
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${fixture.key}` } })
    return gunzipSync(await answer.arrayBuffer()).toString()
  }
  const answers = async (url: string) => {
    const read = async (path: string) =>
      (await send(url, 'GET', `/v1/orgs/${fixture.id}${path}`, { key: fixture.key })).body
    // A start marks devices as not connected, so the presence of the room's device is left out.
    const { name, dec, location } = await read(`/rooms/${fixture.room}`)
    return {
      room: { name, dec, location },
      config: await read(`/endpoints/${fixture.endpoint}/config`),
      versions: await read(`/endpoints/${fixture.endpoint}/config/versions`),
      sensor: await read(`/endpoints/${fixture.endpoint}/sensor`),
      keys: (await read('/keys')).keys.length,
      bundle: await bundleText(url),
    }
  }
  const before = await answers(harness.url)
  expect(before.room.dec).toMatch(/\w{4}/)
  expect(before.bundle).toBe('all is well')
  await harness.stop()
  const original = await contentOf(harness.place)
  const empty = Object.keys(original).filter((table) => original[table]?.length === 0)
  expect(empty, 'every table has rows: let fillEveryTable() write a row into these').toEqual([])

  const sqlite = { dataDir: folderForTest() }
  const postgres = await postgresForTest(sqlite.dataDir, { hasTables: false })
  await copyDatabase({ ...rehearsal, from: harness.place, to: sqlite, secretKeyFile, onCopied: noReport })
  const { bundle_chunks, ...tables } = original
  expect(bundle_chunks).toHaveLength(1)
  expect(await contentOf(sqlite)).toEqual(tables)
  const program = new Program(['copy', '--rehearsal', '--from', sqlite.dataDir], {
    env: { ROOMKEEPER_COPY_TO: postgres.databaseUrl },
  })
  const done = await program.exit(60_000)
  expectDone(done)
  expect(done.stdout).toMatch(/^samples +1 row$/m)
  expect(done.stdout).toMatch(/^Copied 1 log bundle\.$/m)
  expect(done.stdout).toMatch(/^audit log {3}ok: the \d+ entries of \w+ are verified\.$/m)
  expect(done.stdout).toMatch(/^secret key {2}ok: the key fits, and opens \d+ encrypted values\.$/m)
  expect(await contentOf(postgres)).toEqual(original)

  for (const place of [sqlite, postgres]) {
    const service = await startService({ ...quiet, ...place }, pino({ level: 'silent' }))
    try {
      expect(await answers(service.url)).toEqual(before)
      const path = `/v1/orgs/${fixture.id}/regions`
      const region = await send(service.url, 'POST', path, { key: fixture.key, body: { name: 'Africa' } })
      expect(region.body.id, 'the counters go on').toBe(fixture.emptyRegion + 1)
      const actor = { type: 'SYSTEM', id: 'test', name: 'Test' } as const
      const org = await orgCreate(service.services, actor, 'Another')
      expect(org.key, 'the numbers of organisations go on').toBe(fixture.org.key + 1)
    } finally {
      await service.close()
    }
  }
})

test('a target with rows, a wrong or missing key and a broken audit log are refused, and the target stays as it was', async () => {
  const sqlite = { dataDir: folderForTest() }
  const copy = (secretKey = secretKeyFile) =>
    copyDatabase({ ...rehearsal, from: harness.place, to: sqlite, secretKeyFile: secretKey, onCopied: noReport })
  const { db } = harness.services
  await harness.stop()
  expect(db.engine).toBe('postgres')
  const other = await startHarness()
  onTestFinished(() => other.close())
  await expect(copy(join(other.place.dataDir, 'secret.key'))).rejects.toThrow(/is not the secret key/)

  const keyless = folderForTest({ hasKey: false })
  const program = new Program(['copy', '--to', keyless], {
    env: { ROOMKEEPER_COPY_FROM: harness.place.databaseUrl as string },
  })
  expectRefusal(await program.exit(), /^The secret key .* is missing\. Copy it there from the data folder/)

  const pgTarget = { ...other.place }
  await other.newOrg()
  await other.stop()
  await expect(copyDatabase({ from: harness.place, to: pgTarget, secretKeyFile, onCopied: noReport })).rejects.toThrow(
    /^The target is not empty: its table \w+ has rows\./,
  )

  const forged = await postgresForTest(sqlite.dataDir)
  await copy()
  const onSqlite = new Sqlite(join(sqlite.dataDir, 'roomkeeper.db'))
  onSqlite.exec(`update audit_log set actor_name = 'Nobody' where seq = 2`)
  onSqlite.close()
  await expect(copyDatabase({ from: sqlite, to: forged, secretKeyFile, onCopied: noReport })).rejects.toThrow(
    /audit log\): .* entry 2 was changed/,
  )
  const left = Object.values(await contentOf(forged))
    .flat()
    .filter((row) => !row.includes('compatible migration '))
  expect(left, 'nothing is left of a copy that failed').toEqual([])
})

test('a copy that lacks a row is refused with both numbers of rows, and nothing is left of it', async () => {
  await harness.stop()
  const sqlite = { dataDir: folderForTest() }
  const postgres = await postgresForTest(sqlite.dataDir)
  // A trigger of the target leaves out one row of many without an error.
  for (const place of [sqlite, postgres])
    await (await openDatabase(place, { isLocked: false, mustExist: false, onError() {} })).db.close()
  const onSqlite = new Sqlite(join(sqlite.dataDir, 'roomkeeper.db'))
  onSqlite.exec(
    `create trigger one_less before insert on regions when new.id = ${fixture.emptyRegion} begin select raise(ignore); end`,
  )
  onSqlite.close()
  const onPostgres = new pg.Client({ connectionString: postgres.databaseUrl })
  await onPostgres.connect()
  await onPostgres.query(`create function one_less() returns trigger language plpgsql as $$ begin return null; end $$`)
  await onPostgres.query(
    `create trigger one_less before insert on regions for each row when (new.id = ${fixture.emptyRegion}) execute function one_less()`,
  )
  await onPostgres.end()
  const { regions = [] } = await contentOf(harness.place)
  expect(regions.length).toBeGreaterThan(1)
  for (const to of [sqlite, postgres]) {
    const before = await contentOf(to)
    await expect(copyDatabase({ from: harness.place, to, secretKeyFile, onCopied: noReport })).rejects.toThrow(
      `The copy of the table regions has ${regions.length - 1} rows instead of ${regions.length}. Nothing was copied.`,
    )
    expect(await contentOf(to)).toEqual(before)
    expect(before.regions).toEqual([])
  }
})

test('a missing source and a target that is the source are named, and the next step has the options of this copy', async () => {
  const folder = folderForTest({ hasKey: false })
  const at = (name: string) => join(folder, name)
  expectDone(await runHere(['org', 'create', 'One', '--data-dir', at('data')]))
  const { databaseUrl } = await postgresForTest(folder)
  const copy = (from: string, to: string, ...options: string[]) =>
    runHere(['copy', '--from', at(from), '--to', to, ...options])
  const noSource = /^There is no database in .*\/typo\. Name the data folder of the source with --from\.$/m
  expectRefusal(await copy('typo', databaseUrl), noSource)
  expectRefusal(await copy('typo', at('new'), '--secret-key-file', at('data/secret.key')), noSource)
  symlinkSync('data', at('link'))
  const sameDatabase = /^--from and --to are the same database\./
  for (const same of ['link', 'data']) expectRefusal(await copy('data', at(same)), sameDatabase)
  // Only a process of its own has another working folder.
  const relative = new Program(['copy', '--from', './data', '--to', './data/'], { cwd: folder })
  expectRefusal(await relative.exit(), sameDatabase)

  mkdirSync(at('keys'))
  renameSync(at('data/secret.key'), at('keys/main.key'))
  const key = ['--secret-key-file', at('keys/main.key')]
  const rehearsed = await copy('data', at('tried'), '--rehearsal', ...key)
  expectDone(rehearsed)
  expect(rehearsed.stdout).toMatch(/^This was a rehearsal: servers go on with the source\./m)
  const toFolder = await copy('data', at('new'), ...key)
  expectDone(toFolder)
  expect(toFolder.stdout).toMatch(
    /^Next, start the server with --data-dir \S+\/new and --secret-key-file \S+\/keys\/main\.key and without --database-url\. /m,
  )
  expect(readdirSync(at('new'))).toContain('roomkeeper.db')
  const toPostgres = await copy('new', databaseUrl, ...key)
  expectDone(toPostgres)
  expect(toPostgres.stdout).toMatch(
    /^Next, start the server with --data-dir \S+\/new, --database-url and --secret-key-file \S+\/keys\/main\.key\. The source/m,
  )
})
