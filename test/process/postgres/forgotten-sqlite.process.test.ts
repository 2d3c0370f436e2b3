// An empty PostgreSQL database beside a SQLite database that is in use: the server refuses to start on an empty database.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emptySiteForTest, expectDone, expectRefusal } from '../../support/program.ts'
import { runHere } from '../../support/run-here.ts'

test('an empty PostgreSQL beside a SQLite database with an organisation is refused, with both ways out', async () => {
  const site = await emptySiteForTest()
  expectDone(await runHere(['org', 'create', 'One', '--data-dir', site.dataDir]))
  const ways = /copy --from .* --to postgres:.*To begin with an empty database, name another folder with --data-dir\.$/m
  expectRefusal(await site.run('serve', '--port', '0'), ways)
  expectRefusal(await site.run('org', 'create', 'Other'), ways)
  expect(await site.sql('select * from orgs'), 'nothing was created').toEqual([])
  expect(await site.sql("select * from settings where name not like 'compatible migration %'")).toEqual([])
  for (const end of ['', '-wal', '-shm']) rmSync(join(site.dataDir, `roomkeeper.db${end}`), { force: true })
  expect((await site.serveHere()).org).not.toBe('')
})
