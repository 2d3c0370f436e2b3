// `roomkeeper check` on a damaged database, and on one that cannot be checked now: only damage is called damage.
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { engine } from '../../support/harness.ts'
import { expectDone, expectRefusal, type Site, siteForTest } from '../../support/program.ts'

const pageBytes = 4096

async function siteWithOrg(): Promise<Site> {
  const site = await siteForTest()
  expectDone(await site.run('org', 'create', 'One'))
  return site
}

function overwritePage(file: string, page: number): void {
  const opened = openSync(file, 'r+')
  writeSync(opened, Buffer.alloc(pageBytes, 'damage'), 0, pageBytes, (page - 1) * pageBytes)
  closeSync(opened)
}

const failedLine = /^integrity {3}FAILED: \S.*\.\n$/
const advice = 'The database failed a check. Restore a backup.\n'

if (engine === 'sqlite') {
  test('whichever page of a SQLite file is overwritten, the check prints one sentence and stops there', async () => {
    const site = await siteWithOrg()
    const file = join(site.dataDir, 'roomkeeper.db')
    await site.sql('pragma wal_checkpoint(truncate)')
    const pageOf = async (table: string) =>
      Number((await site.sql(`select rootpage from sqlite_schema where name = '${table}'`))[0]?.rootpage)
    const damaged = [await pageOf('orgs'), await pageOf('settings'), await pageOf('migrations'), 1]
    expect(statSync(file).size).toBeGreaterThan(pageBytes * Math.max(...damaged))
    // The damage adds up; the first page, which every command reads, is the last.
    for (const page of damaged) {
      overwritePage(file, page)
      const { code, stdout, stderr } = await site.run('check')
      expect(stdout, `page ${page}`).toMatch(failedLine)
      expect([code, stderr]).toEqual([1, advice])
    }
  })
} else {
  test('a damaged page of PostgreSQL is a failed line, and the check stops there', async () => {
    const site = await siteWithOrg()
    await site.sql('create table extra as select * from generate_series(1, 1000)')
    // This writes a new file past the buffers of the server, so that the next reader reads the file.
    await site.sql('vacuum full extra')
    const [place] = await site.sql(
      `select current_setting('data_directory') || '/' || pg_relation_filepath('extra') as file`,
    )
    overwritePage(String(place?.file), 1)
    const { code, stdout, stderr } = await site.run('check')
    expect([code, stdout, stderr]).toEqual([1, expect.stringMatching(failedLine), advice])
  })

  test('a table that is locked is not called damaged', async () => {
    const site = await siteWithOrg()
    const other = new pg.Client({ connectionString: site.databaseUrl as string })
    await other.connect()
    onTestFinished(() => other.end())
    await other.query('begin; lock table rooms in access exclusive mode')
    const ended = await site.run('check')
    expect(ended.stdout).toBe('')
    expectRefusal(ended, /^The check was not finished: .*(lock|statement) timeout.* Try again\.$/m)
    expect(ended.stderr).not.toContain('Restore a backup')
  })
}
