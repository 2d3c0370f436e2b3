// Backups: their content, refused restores, failed checks, and those that the server makes by itself.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openCommandStates } from '../../../src/contract/fleet/commands.ts'
import { makeMetrics } from '../../../src/server/core/metrics/metrics.ts'
import { makeBackup } from '../../../src/server/maintenance/backup/make-backup.ts'
import { restoreBackup } from '../../../src/server/maintenance/backup/restore-backup.ts'
import { ScheduledBackups } from '../../../src/server/maintenance/backup/scheduled-backups.ts'
import { contentOf, fillEveryTable } from '../../support/database/whole-database.ts'
import type { Fixture } from '../../support/fixture.ts'
import { engine, type Harness, newPlace, quiet, send, startHarness, TestClock } from '../../support/harness.ts'
import { isFullForm } from '../../support/long-form.ts'
import { emptySiteForTest, expectRefusal, until } from '../../support/program.ts'

const { signal } = new AbortController()
let harness: Harness
let fixture: Fixture
let folder: string
let plain: string
let complete: string
/** The content of the database at the time of the complete backup. */
let stored: Awaited<ReturnType<typeof contentOf>>
/** The running server beats, makes rollups that are due and notes that it has looked for incidents, whatever else happens. */
const ofTheServer = { nodes: [], sample_due: [], incident_progress: [] }

beforeAll(async () => {
  harness = await startHarness()
  fixture = await fillEveryTable(harness)
  // The clock was advanced past the deadline of the commands: the server must not expire them after the backup.
  await until('the commands have expired', async () => {
    const { kysely } = harness.services.db.system
    const open = kysely.selectFrom('operations').select('id').where('state', 'in', openCommandStates)
    return (await open.execute()).length === 0
  })
  folder = mkdtempSync(join(tmpdir(), 'roomkeeper-test-'))
  plain = join(folder, 'plain.tar')
  complete = join(folder, 'complete.tar')
  const { place } = harness
  await makeBackup({ place, file: plain, withSecret: false, withBundles: false })
  await until('nothing has changed while the backup was made', async () => {
    const before = await contentOf(place)
    rmSync(complete, { force: true })
    await makeBackup({ place, file: complete, withSecret: true, withBundles: true })
    stored = await contentOf(place)
    return isDeepStrictEqual({ ...stored, ...ofTheServer }, { ...before, ...ofTheServer })
  })
})
afterAll(async () => {
  await harness.close()
  rmSync(folder, { recursive: true })
})

async function placeForTest() {
  const { place, remove } = await newPlace()
  onTestFinished(remove)
  return place
}

const secretText = () => readFileSync(join(harness.place.dataDir, 'secret.key'), 'utf8')

test('with secret and bundles everything but sessions and sign-in links comes back, into an empty place', async () => {
  const place = await placeForTest()
  await restoreBackup(complete, place)
  const after = await contentOf(place)
  expect(after.sessions).toEqual([])
  expect(after.login_links).toEqual([])
  expect(after.user_sessions).toEqual([])
  expect(after.user_links).toEqual([])
  const excluded = { sessions: [], login_links: [], user_sessions: [], user_links: [], ...ofTheServer }
  expect({ ...after, ...excluded }).toEqual({ ...stored, ...excluded })
  expect(readFileSync(join(place.dataDir, 'secret.key'), 'utf8')).toBe(secretText())
  expect(after.bundle_uploads).toHaveLength(1)
  if (engine === 'postgres') expect(after.bundle_chunks).toHaveLength(1)
  else {
    const bundles = (dataDir: string) => readdirSync(join(dataDir, 'bundles'), { recursive: true }).sort()
    expect(bundles(place.dataDir)).toEqual(bundles(harness.place.dataDir))
    expect(bundles(place.dataDir)).toContainEqual(expect.stringContaining(fixture.supportId.replace('-', '')))
  }
  expect(readdirSync(place.dataDir).filter((name) => name.startsWith('restore-'))).toEqual([])
})

test('without --with-secret the file does not contain the key, and restore compares its fingerprint', async () => {
  expect(readFileSync(plain).includes(secretText().trim())).toBe(false)
  expect(readFileSync(complete).includes(secretText().trim())).toBe(true)
  const place = await placeForTest()
  await expect(restoreBackup(plain, place)).rejects.toThrow(/^The secret key is not in the backup\. Put it at /)
  const keyFile = join(place.dataDir, 'secret.key')
  writeFileSync(keyFile, `${'ab'.repeat(32)}\n`)
  await expect(restoreBackup(plain, place)).rejects.toThrow(/is not the secret key of the backup: its fingerprint is/)
  writeFileSync(keyFile, secretText())
  await restoreBackup(plain, place)
  const { bundle_uploads, bundle_chunks = [] } = await contentOf(place)
  expect([bundle_uploads, bundle_chunks], 'bundles are left out, and take nothing of the quota').toEqual([[], []])
  await expect(restoreBackup(plain, place), 'the target is not empty any more').rejects.toThrow(/is not empty: /)
})

test('a file that is no backup, a truncated and a damaged backup are refused with a sentence, and nothing is restored', async () => {
  const site = await emptySiteForTest()
  writeFileSync(site.secretKeyFile, secretText())
  const bytes = readFileSync(plain)
  const flipped = Buffer.from(bytes)
  flipped.writeUInt8(flipped.readUInt8(20_000) ^ 1, 20_000)
  const bad = {
    rubbish: Buffer.alloc(50_000, 'rubbish'),
    empty: Buffer.alloc(0),
    short: bytes.subarray(0, 700),
    truncated: bytes.subarray(0, bytes.length - 2048),
    half: bytes.subarray(0, bytes.length / 2),
    flipped,
  }
  const { dataDir, databaseUrl } = site
  const place = { dataDir, ...(databaseUrl && { databaseUrl }) }
  for (const [name, content] of Object.entries(bad)) {
    writeFileSync(join(folder, name), content)
    await expect(restoreBackup(join(folder, name), place), name).rejects.toThrow(
      /is not a backup of Roomkeeper, or it is truncated or damaged\. Nothing was restored/,
    )
  }
  const missing = restoreBackup(join(folder, 'missing.tar'), place)
  await expect(missing).rejects.toThrow(/^Cannot read the backup .* \(ENOENT\)\./)
  expectRefusal(await site.run('restore', join(folder, 'half')), /is truncated or damaged/)
  await restoreBackup(plain, place)
})

test('a backup does not replace a file, and a failed one leaves nothing', async () => {
  const backup = (file: string, place = harness.place) =>
    makeBackup({ place, file, withSecret: false, withBundles: false })
  await expect(backup(plain)).rejects.toThrow(/^There is already a file .*plain\.tar\. Name another one/)
  await expect(backup(join(folder, 'no', 'such.tar'))).rejects.toThrow(/^Cannot write to the folder .*\(ENOENT\)/)
  const before = readdirSync(folder)
  await expect(backup(join(folder, 'empty.tar'), await placeForTest())).rejects.toThrow(/^There is no /)
  expect(readdirSync(folder)).toEqual(before)
})

test('check finds a changed audit entry, a row that refers to nothing, and a key that does not fit', async () => {
  const site = await emptySiteForTest()
  const { dataDir, databaseUrl } = site
  await restoreBackup(complete, { dataDir, ...(databaseUrl && { databaseUrl }) })
  const good = await site.run('check')
  expect([good.code, good.stderr]).toEqual([0, ''])
  expect(good.stdout).toMatch(/^integrity {3}ok: \d+ tables are intact\.\nreferences {2}ok: /)
  expect(good.stdout).toMatch(/^secret key {2}ok: the key fits, and opens [1-9]\d* encrypted values\.$/m)
  await site.sql(`update audit_log set actor_name = 'Nobody' where seq = 2`)
  // Only a superuser of PostgreSQL, or SQLite without its check, can write such a row.
  const orphan = 'insert into user_regions (org, user_id, region_id) values (1, 99, 99)'
  const [off, on] =
    engine === 'sqlite'
      ? ['pragma foreign_keys = off', 'pragma foreign_keys = on']
      : ['set session_replication_role = replica', 'set session_replication_role = origin']
  await site.sql(`${off}; ${orphan}; ${on}`)
  const bad = await site.run('check')
  expect(bad.code).toBe(1)
  expect(bad.stdout).toMatch(/^references {2}FAILED: .*1 row of user_regions refers to missing rows of users/m)
  expect(bad.stdout).toMatch(/^audit log {3}FAILED: \w+ is broken: entry 2 was changed/m)
  expect(bad.stderr).toBe('The database failed a check. Restore a backup.\n')
  writeFileSync(site.secretKeyFile, `${'ab'.repeat(32)}\n`)
  expect((await site.run('check')).stdout).toMatch(/^secret key {2}FAILED: .* is not the secret key/m)
})

/** When backups are made; all but the first are kept. Each one is a process. */
const times = isFullForm ? ['093000', '153000', '213000'] : ['093000', '153000']

// The schedule is the same on both databases; the last test of this file makes a scheduled backup on each.
const onOneDatabase = test.runIf(engine === 'sqlite' || isFullForm)

onOneDatabase(
  'scheduled backups are made when the newest is too old, the oldest are deleted, and a failure is logged',
  async () => {
    const backupDir = mkdtempSync(join(tmpdir(), 'roomkeeper-test-'))
    onTestFinished(() => rmSync(backupDir, { recursive: true, force: true }))
    const lines: Record<string, unknown>[] = []
    const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
    const clock = new TestClock()
    clock.fix(Date.UTC(2027, 0, 31, 9, 30))
    const metrics = makeMetrics()
    const backupKeep = times.length - 1
    const options = { ...quiet, ...harness.place, backupDir, backupEveryHours: 6, backupKeep }
    const backups = new ScheduledBackups(backupDir, options, log, clock)
    backups.register(metrics)
    writeFileSync(join(backupDir, 'notes.txt'), 'of somebody else')
    await backups.run(signal)
    await backups.run(signal)
    expect(readdirSync(backupDir)).toEqual(['notes.txt', 'roomkeeper-20270131T093000Z.tar'])
    for (const _ of times.slice(1)) {
      clock.advance(6 * 3_600_000)
      await backups.run(signal)
    }
    const kept = ['notes.txt', ...times.slice(1).map((time) => `roomkeeper-20270131T${time}Z.tar`)]
    expect(readdirSync(backupDir)).toEqual(kept)
    const restarted = new ScheduledBackups(backupDir, options, log, clock)
    await restarted.run(signal)
    expect(readdirSync(backupDir), 'a restart makes none before its time').toEqual(kept)

    rmSync(backupDir, { recursive: true })
    clock.advance(6 * 3_600_000)
    await backups.run(signal)
    await backups.run(signal)
    expect(lines.filter((line) => line.msg === 'backup failed')).toMatchObject([{ level: 50 }])
    const text = await metrics.registry.metrics()
    expect(text).toContain(`\nroomkeeper_backups_total ${times.length}\n`)
    expect(text).toMatch(/^roomkeeper_backup_failures_total 1$/m)
    const lastSuccess = Date.UTC(2027, 0, 31, 9, 30) / 1000 + (times.length - 1) * 6 * 3600
    expect(text).toContain(`\nroomkeeper_backup_last_success_timestamp_seconds ${lastSuccess}\n`)
  },
)

onOneDatabase(
  'backups that a wrong clock dated in the future neither stop the next ones nor push them out',
  async () => {
    const backupDir = mkdtempSync(join(tmpdir(), 'roomkeeper-test-'))
    onTestFinished(() => rmSync(backupDir, { recursive: true, force: true }))
    const lines: Record<string, unknown>[] = []
    const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
    const clock = new TestClock()
    const options = { ...quiet, ...harness.place, backupDir, backupEveryHours: 6, backupKeep: 1 }
    const backups = new ScheduledBackups(backupDir, options, log, clock)
    writeFileSync(join(backupDir, 'roomkeeper-20300131T093000Z.tar'), '')
    clock.fix(Date.UTC(2027, 0, 31, 9, 30))
    await backups.run(signal)
    clock.advance(6 * 3_600_000)
    await backups.run(signal)
    await new ScheduledBackups(backupDir, options, pino({ level: 'silent' }), clock).run(signal)
    expect(readdirSync(backupDir)).toEqual(['roomkeeper-20270131T153000Z.tar', 'roomkeeper-20300131T093000Z.tar'])
    expect(lines.filter(({ level }) => level !== 30)).toMatchObject([
      { level: 40, files: ['roomkeeper-20300131T093000Z.tar'], msg: /^backups are dated in the future and ignored/ },
    ])
  },
)

test('a server with --backup-dir makes a backup by itself', async () => {
  const backupDir = join(folder, 'by-itself')
  const served = await startHarness({ backupDir })
  onTestFinished(() => served.close())
  await until('a backup', () => existsSync(backupDir) && readdirSync(backupDir).some((name) => name.endsWith('.tar')))
  await until('the log', () => served.logged.some((line) => line.msg === 'backup made'))
  expect((await send(served.url, 'GET', '/metrics')).text).toMatch(/^roomkeeper_backups_total 1$/m)
})
