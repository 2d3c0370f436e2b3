// An empty PostgreSQL database beside a SQLite database that is in use: the server refuses to start on an empty database.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emptySiteForTest, expectRefusal, ready } from '../../support/program.ts'

test('an empty PostgreSQL beside a SQLite database with an organisation is refused, with both ways out', async () => {
  const site = await emptySiteForTest()
  const onSqlite = ready(site.launch(['serve', '--port', '0', '--data-dir', site.dataDir]))
  await (await onSqlite).stop()
  const ways = /copy --from .* --to postgres:.*To begin with an empty database, name another folder with --data-dir\.$/m
  expectRefusal(await site.launch(['serve', '--port', '0', ...site.flags]).exit(), ways)
  expectRefusal(await site.run('org', 'create', 'Other'), ways)
  expect(await site.sql('select * from orgs'), 'nothing was created').toEqual([])
  expect(await site.sql("select * from settings where name not like 'compatible migration %'")).toEqual([])
  for (const end of ['', '-wal', '-shm']) rmSync(join(site.dataDir, `roomkeeper.db${end}`), { force: true })
  expect((await site.serve()).org).not.toBe('')
})
