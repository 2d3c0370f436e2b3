// Backups of PostgreSQL: a missing pg_dump is named, an unusual password works, and a backup does not change its engine.
import { copyFileSync, existsSync, readdirSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { makeBackup } from '../../../src/server/maintenance/backup/make-backup.ts'
import { restoreBackup } from '../../../src/server/maintenance/backup/restore-backup.ts'
import { emptySiteForTest, expectDone, expectRefusal, siteForTest } from '../../support/program.ts'

test('without pg_dump the command names the package that has it', async () => {
  const site = await siteForTest()
  expectDone(await site.run('org', 'create', 'One'))
  const file = join(dirname(site.dataDir), 'backup.tar')
  const program = site.launch(['backup', file, ...site.flags], { env: { PATH: '/nonexistent' } })
  expectRefusal(
    await program.exit(),
    /^pg_dump was not found\. Install it: on Debian, apt-get install postgresql-client\.$/m,
  )
})

test('a password with quotes, colons and backslashes reaches pg_dump, and a dump is not restored into SQLite', async () => {
  const [site, other] = [await siteForTest(), await emptySiteForTest()]
  expectDone(await site.run('org', 'create', 'One'))
  const role = `odd_${process.pid}`
  const password = `it's:a\\"p@ss/word?`
  const admin = new pg.Client({ connectionString: inject('postgresUrl') })
  await admin.connect()
  await admin.query(`create role ${role} superuser login password ${pg.escapeLiteral(password)}`)
  onTestFinished(async () => {
    await admin.query(`drop role ${role}`)
    await admin.end()
  })
  const url = new URL(site.databaseUrl as string)
  url.username = role
  url.password = encodeURIComponent(password)
  const file = join(dirname(site.dataDir), 'backup.tar')
  const place = { dataDir: site.dataDir, databaseUrl: url.href }
  let besideDraft: string[] = []
  const watcher = watch(dirname(file), { recursive: true }, (_, name) => {
    if (name?.endsWith('/backup.tar') && existsSync(join(dirname(file), name)))
      besideDraft = readdirSync(dirname(join(dirname(file), name)))
  })
  onTestFinished(() => watcher.close())
  await makeBackup({ place, file, withSecret: false, withBundles: false })
  expect(besideDraft, 'a draft was seen').toContain('backup.tar')
  expect(besideDraft, 'the password is deleted after pg_dump').not.toContain('pgpass')
  copyFileSync(site.secretKeyFile, other.secretKeyFile)
  const { dataDir } = other
  await expect(restoreBackup(file, { dataDir })).rejects.toThrow(
    /^The backup is of PostgreSQL, and the target is SQLite\. Restore it into PostgreSQL, then use "roomkeeper copy"\.$/,
  )
  await restoreBackup(file, { dataDir, databaseUrl: other.databaseUrl as string })
  expect(await other.sql('select name from orgs')).toEqual([{ name: 'One' }])
})
