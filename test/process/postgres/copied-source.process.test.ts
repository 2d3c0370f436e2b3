// A database that was copied elsewhere: a server and every command that writes refuse it, and say where the data is now.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest'
import { startService } from '../../../src/server/app.ts'
import { withoutPassword, writeServerRecord } from '../../../src/server/config/server-record.ts'
import { createDatabase, dropDatabase } from '../../support/database/postgres-tables.ts'
import { quiet } from '../../support/harness.ts'
import { expectDone, expectRefusal, Site } from '../../support/program.ts'
import { runHere } from '../../support/run-here.ts'

let site: Site
let databaseUrl: string
let databaseName: string
/** A data folder with a SQLite database, of which each test gets a copy. */
let original: string
beforeAll(async () => {
  original = mkdtempSync(join(tmpdir(), 'roomkeeper-test-'))
  expectDone(await run('org', 'create', 'One', '--data-dir', original))
})
afterAll(() => rmSync(original, { recursive: true }))
beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-test-'))
  const dataDir = join(folder, 'data')
  cpSync(original, dataDir, { recursive: true })
  site = new Site({ dataDir }, async () => rmSync(folder, { recursive: true }))
  onTestFinished(() => site.close())
  // copy.process.test.ts copies to a database without tables.
  const created = await createDatabase(inject('postgresUrl'), inject('postgresTables'))
  databaseUrl = created.databaseUrl
  databaseName = created.name
  onTestFinished(() => dropDatabase(inject('postgresUrl'), databaseName))
})

const run = (...args: string[]) => runHere(args)
/** A start that is refused. */
const serve = (dataDir: string, ...options: string[]) =>
  runHere(['serve', '--port', '0', '--mqtt-port', '0', '--log-level', 'silent', '--data-dir', dataDir, ...options])
/** A start that is not refused. */
async function starts(dataDir: string, url?: string): Promise<void> {
  const place = { dataDir, ...(url !== undefined && { databaseUrl: url }) }
  const service = await startService({ ...quiet, ...place }, pino({ level: 'silent' }))
  await service.close()
}
const copy = (...options: string[]) => run('copy', '--from', site.dataDir, '--to', databaseUrl, ...options)
const unmark = (from: string) => run('copy', '--unmark', '--from', from)

/** Runs statements on the target as another program. */
async function onPostgres(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

function storedMark(): string {
  const file = new Sqlite(join(site.dataDir, 'roomkeeper.db'), { readonly: true })
  try {
    const row = file.prepare(`select value from settings where name = 'copied to'`).get() as
      | { value: string }
      | undefined
    return row?.value ?? ''
  } finally {
    file.close()
  }
}

const wayToPostgres = () =>
  new RegExp(
    `^The SQLite database in .* was copied to ${RegExp.escape(withoutPassword(databaseUrl))} on \\S+, and is no longer in use\\. Use --database-url with that address\\. .* run "roomkeeper copy --unmark --from ${RegExp.escape(site.dataDir)}"\\.$`,
    'm',
  )

test('after a copy to PostgreSQL, a start without --database-url is refused until --unmark', async () => {
  expectDone(await copy())
  expectRefusal(await serve(site.dataDir), wayToPostgres())
  expect(existsSync(join(site.dataDir, 'server.json')), 'nothing ran').toBe(false)
  await starts(site.dataDir, databaseUrl)

  const done = await unmark(site.dataDir)
  expectDone(done)
  expect(done.stdout).toBe(
    `A server may start on ${site.dataDir} again. Changes made only in ${withoutPassword(databaseUrl)} are missing here. Do not start a server there.\n`,
  )
  await starts(site.dataDir)
  expect((await unmark(site.dataDir)).stdout).toBe(`${site.dataDir} was not marked as copied. Nothing was changed.\n`)
})

test('a rehearsal marks nothing, and a copy that fails marks nothing', async () => {
  expectDone(await copy('--rehearsal'))
  expectRefusal(await copy(), /^The target is not empty/)
  await starts(site.dataDir)
})

test('a copy from PostgreSQL into the folder of its server marks PostgreSQL, and the folder starts on SQLite', async () => {
  expectDone(await copy())
  await starts(site.dataDir, databaseUrl)
  const folder = join(site.dataDir, '..', 'back')
  mkdirSync(folder)
  writeFileSync(join(folder, 'secret.key'), readFileSync(site.secretKeyFile), { mode: 0o600 })
  writeServerRecord({ dataDir: folder, databaseUrl }, { url: 'http://127.0.0.1:1', publicUrl: 'http://127.0.0.1:1' })
  expectDone(await run('copy', '--from', databaseUrl, '--to', folder))
  expectRefusal(
    await serve(site.dataDir, '--database-url', databaseUrl),
    new RegExp(
      `^This PostgreSQL database was copied to ${RegExp.escape(folder)} on \\S+, and is no longer in use\\. Use --data-dir ${RegExp.escape(folder)} and no --database-url\\. .*copy --unmark --from ${RegExp.escape(withoutPassword(databaseUrl))}`,
    ),
  )
  await starts(folder)
  expectDone(await unmark(databaseUrl))
  await starts(site.dataDir, databaseUrl)
})

test('commands refuse a marked database; check, doctor and backup examine it, and restore keeps the mark', async () => {
  expectDone(await copy())
  const here = ['--data-dir', site.dataDir]
  for (const command of [
    ['org', 'list'],
    ['org', 'create', 'Two'],
    ['migrate'],
    ['settings', 'set', 'idle-minutes', '5'],
    ['users', 'list'],
  ])
    expectRefusal(await run(...command, ...here), wayToPostgres())
  const checked = await run('check', ...here)
  expectDone(checked)
  expect(checked.stdout).toMatch(wayToPostgres())
  const { findings } = JSON.parse((await run('doctor', '--json', '--port', '0', ...here)).stdout)
  expect(findings[0]).toMatchObject({ state: 'failed', subject: 'database' })
  expect(findings[0].message).toMatch(wayToPostgres())
  const file = join(site.dataDir, '..', 'backup.tar')
  expectDone(await run('backup', '--with-secret', file, ...here))
  const restored = join(site.dataDir, '..', 'restored data')
  const { stdout } = await run('restore', file, '--data-dir', restored)
  expect(stdout).toContain(`copy --unmark --from '${restored}'`)
  expectRefusal(await serve(restored), /was copied to/)
})

describe('a crash or an error around the commit of the target', () => {
  const failAtCommit = [
    `create function fail_at_commit() returns trigger language plpgsql as $$ begin raise exception 'no space'; end $$`,
    'create constraint trigger fail_at_commit after insert on orgs deferrable initially deferred for each row execute function fail_at_commit()',
  ]

  test('leaves no mark if the commit failed, and the next copy works', async () => {
    expectDone(await run('migrate', '--data-dir', join(site.dataDir, '..', 'unused'), '--database-url', databaseUrl))
    await onPostgres(...failAtCommit)
    expect((await copy()).code).toBe(1)
    await onPostgres('drop function fail_at_commit() cascade')
    await starts(site.dataDir)
    expectDone(await copy())
    expectRefusal(await serve(site.dataDir), wayToPostgres())
  })

  test('never leaves two databases that start: a kill before the commit leaves a mark, and the same command finishes', async () => {
    expectDone(await run('migrate', '--data-dir', join(site.dataDir, '..', 'unused'), '--database-url', databaseUrl))
    // The commit of the target waits for a lock that the test holds.
    await onPostgres(
      `create function wait_at_commit() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(4711); return null; end $$`,
      'create constraint trigger wait_at_commit after insert on orgs deferrable initially deferred for each row execute function wait_at_commit()',
    )
    const holder = new pg.Client({ connectionString: databaseUrl })
    await holder.connect()
    await holder.query('select pg_advisory_lock(4711)')
    const copying = site.launch(['copy', '--from', site.dataDir, '--to', databaseUrl])
    await expect.poll(storedMark, { timeout: 20_000, interval: 50 }).toContain(withoutPassword(databaseUrl))
    await copying.stop('SIGKILL')
    expectRefusal(await serve(site.dataDir), wayToPostgres())
    await holder.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid != pg_backend_pid()',
      [databaseName],
    )
    await holder.query('drop function wait_at_commit() cascade')
    await holder.end()
    expectRefusal(
      await run(
        'copy',
        '--from',
        site.dataDir,
        '--to',
        join(site.dataDir, '..', 'other'),
        '--secret-key-file',
        site.secretKeyFile,
      ),
      wayToPostgres(),
    )
    expectDone(await copy())
    expectRefusal(await serve(site.dataDir), wayToPostgres())
    await starts(site.dataDir, databaseUrl)
  })
})

test('SQLite is refused in a folder whose server.json names PostgreSQL, and PostgreSQL starts where it names SQLite', async () => {
  const other = await createDatabase(inject('postgresUrl'))
  onTestFinished(() => dropDatabase(inject('postgresUrl'), other.name))
  const folder = join(site.dataDir, '..', 'folder')
  await starts(folder)
  // An empty PostgreSQL beside a SQLite database in use is refused for another reason.
  for (const end of ['', '-wal', '-shm']) writeFileSync(join(folder, `roomkeeper.db${end}`), '')
  await starts(folder, other.databaseUrl)
  const refusal = new RegExp(
    `^The server with the data folder ${RegExp.escape(folder)} used PostgreSQL at its last start \\(${RegExp.escape(withoutPassword(other.databaseUrl))}\\), .*Use --database-url\\. .*copy --unmark --from ${RegExp.escape(folder)}`,
  )
  expectRefusal(await serve(folder), refusal)
  expectRefusal(await serve(folder, '--database-url', ''), refusal)
  const env = { PGPASSWORD: new URL(other.databaseUrl).password }
  const doctor = await site.launch(['doctor', '--json', '--port', '0', '--data-dir', folder], { env }).exit()
  expect(JSON.parse(doctor.stdout).findings).toContainEqual(
    expect.objectContaining({
      subject: 'database',
      state: 'warning',
      message: expect.stringMatching(/--database-url/),
    }),
  )
  expect((await unmark(folder)).stdout).toContain(`A server may start on ${folder} again.`)
  await starts(folder)
})

test('a record that cannot be read does not keep a server from starting', async () => {
  writeFileSync(join(site.dataDir, 'server.json'), '{"url":')
  await starts(site.dataDir)
  expect(JSON.parse(readFileSync(join(site.dataDir, 'server.json'), 'utf8'))).toHaveProperty('url')
})
