// A node that was declared dead commits nothing any more, gives up what it holds, and goes on with a new row.
import { CompiledQuery } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { CommitNumber } from '../../src/server/db/group-commit.ts'
import { systemWrite } from '../../src/server/db/system.ts'
import { type GroupNode, nodeGroup } from '../support/nodes/node-group.ts'
import { until } from '../support/program.ts'

const insertSetting = systemWrite((db, p: { name: string; value: string }) =>
  db.insertInto('settings').values({ name: p.name, value: p.value }),
)

async function fencedGroup() {
  const group = await nodeGroup()
  const admin = new pg.Client({ connectionString: group.databaseUrl })
  admin.on('error', () => {})
  await admin.connect()
  onTestFinished(() => admin.end())
  const names = async () =>
    (await admin.query("SELECT name FROM settings WHERE name LIKE 'x%' ORDER BY name")).rows.map(({ name }) => name)
  const numberOf = async (id: number | undefined) =>
    (await admin.query('SELECT changes::int FROM nodes WHERE id = $1', [id])).rows[0].changes
  return { group, admin, names, numberOf }
}

/** Only commits to tables with listeners have a number. */
const watchSettings = ({ services: { db } }: GroupNode) => db.onWrite('settings', () => {})

const put = ({ services: { db } }: GroupNode, name: string) =>
  db.systemTransaction((tx) => insertSetting(tx, { name, value: '' }))

/** Writes in a commit of its own, past the listeners. */
const putInBulk = ({ services: { db } }: GroupNode, name: string) =>
  db.forOrg(1).bulkTransaction(async (tx) => {
    await tx.run(CompiledQuery.raw("INSERT INTO settings (name, value) VALUES ($1, '')"), [name])
  })

test.each([
  ['was declared dead', "UPDATE nodes SET state = 'dead', ended_at = 0 WHERE id = $1"],
  ['is gone', 'DELETE FROM nodes WHERE id = $1'],
])('a node whose row %s commits nothing, is told before it takes a new row, and goes on', async (_, end) => {
  const { group, admin, names, numberOf } = await fencedGroup()
  const node = await group.start({ nodeName: 'one' })
  watchSettings(node)
  // A second row makes sure that the statement does not pass because the table is empty.
  await group.start({ nodeName: 'other' })
  const before = node.services.node?.id ?? 0
  const told: (number | undefined)[] = []
  node.services.node?.onReplaced(async () => {
    told.push(node.services.node?.id)
    await expect(put(node, 'x-while-replaced')).rejects.toThrow(/declared this one dead/)
    await expect(putInBulk(node, 'x-bulk-while-replaced')).rejects.toThrow(/declared this one dead/)
  })
  await put(node, 'x-before')
  await admin.query(end, [before])
  await expect(Promise.all([put(node, 'x-fenced'), put(node, 'x-fenced-too')])).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(/^The other servers declared this one dead .* nothing was changed\./),
  })
  await until('it has a new row', () => node.services.node?.id !== before)
  expect(told).toEqual([before])
  await put(node, 'x-later')
  await putInBulk(node, 'x-later-bulk')
  expect(await names()).toEqual(['x-before', 'x-later', 'x-later-bulk'])
  expect(await numberOf(node.services.node?.id)).toBeGreaterThan(0)
  const { rows } = await admin.query("SELECT count(*)::int AS count FROM nodes WHERE state = 'up' AND name = 'one'")
  expect(rows[0].count).toBe(1)
  expect((await fetch(`${node.url}/readyz`)).status).toBe(200)
})

test('the first node, which may have no public address, goes on beside others too', async () => {
  const { group, admin, names } = await fencedGroup()
  const first = await group.start({ hasPublicUrl: false })
  await group.start()
  const before = first.services.node?.id ?? 0
  await admin.query("UPDATE nodes SET state = 'dead', ended_at = 0 WHERE id = $1", [before])
  await until('it has a new row', () => first.services.node?.id !== before)
  await put(first, 'x-later')
  expect(await names()).toEqual(['x-later'])
})

test('a node whose row was declared dead changes no table', async () => {
  const { group, admin } = await fencedGroup()
  const node = await group.start()
  await group.start()
  const create = (name: string) => node.services.db.alterTable(`CREATE TABLE ${name} (id integer)`, 1000)
  expect(await create('x_before')).toBe(true)
  const before = node.services.node?.id ?? 0
  await admin.query("UPDATE nodes SET state = 'dead', ended_at = 0 WHERE id = $1", [before])
  await expect(create('x_fenced')).rejects.toThrow(/declared this one dead/)
  await until('it has a new row', () => node.services.node?.id !== before)
  expect(await create('x_later')).toBe(true)
  const { rows } = await admin.query("SELECT tablename FROM pg_tables WHERE tablename LIKE 'x\\_%' ORDER BY tablename")
  expect(rows.map(({ tablename }) => tablename)).toEqual(['x_before', 'x_later'])
})

test('a commit of its own that would write to a table with listeners without a number is refused', async () => {
  const { group, names, numberOf } = await fencedGroup()
  const node = await group.start()
  watchSettings(node)
  const before = await numberOf(node.services.node?.id)
  const write = node.services.db.separateTransaction((tx) => insertSetting(tx, { name: 'x-unheard', value: '' }))
  await expect(write).rejects.toThrow(/table with listeners/)
  await putInBulk(node, 'x-unwatched')
  expect(await names()).toEqual(['x-unwatched'])
  expect(await numberOf(node.services.node?.id)).toBe(before)
})

test('a node that is declared dead finds out by its beat, although it commits nothing', async () => {
  const { group, admin } = await fencedGroup()
  const node = await group.start()
  const before = node.services.node?.id ?? 0
  await admin.query("UPDATE nodes SET state = 'dead', ended_at = 0 WHERE id = $1", [before])
  await until('it has a new row', () => node.services.node?.id !== before)
  const { rows } = await admin.query('SELECT id FROM nodes WHERE state = $1', ['up'])
  expect(rows).toEqual([{ id: node.services.node?.id }])
})

test('a node whose name was taken while it was dead must stop', async () => {
  const { group, admin } = await fencedGroup()
  const node = await group.start({ nodeName: 'one' })
  const other = await group.start({ nodeName: 'two' })
  // One statement does both: with a pause between them, the first node might take its name back in the pause.
  await admin.query(
    `UPDATE nodes SET name = CASE id WHEN $1 THEN 'former' ELSE 'one' END,
      state = CASE id WHEN $1 THEN 'dead' ELSE state END, ended_at = CASE id WHEN $1 THEN 0 ELSE ended_at END
      WHERE id IN ($1, $2)`,
    [node.services.node?.id, other.services.node?.id],
  )
  await node.taken
  const { rows } = await admin.query("SELECT id FROM nodes WHERE state = 'up'")
  expect(rows, 'it took no new row').toEqual([{ id: other.services.node?.id }])
})

test('every unaudited commit to a table with listeners has a number, also after one that may not have been made', async () => {
  const { group, admin, names, numberOf } = await fencedGroup()
  const node = await group.start()
  watchSettings(node)
  const commits: CommitNumber[] = []
  node.services.db.onCommitted((_, commit) => void commits.push(commit))
  const isUpToDate = async () => commits.at(-1)?.number === (await numberOf(node.services.node?.id))
  for (let i = 0; i < 5; i++) await put(node, `x${i}`)
  await until('the number is the one of the row', isUpToDate)
  // A deferred trigger runs in the COMMIT, so that the test can end the session there.
  await admin.query(`
    CREATE FUNCTION wait_in_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(8); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER wait_in_commit AFTER INSERT ON settings DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.name = 'x-unknown') EXECUTE FUNCTION wait_in_commit()`)
  const writing = put(node, 'x-unknown')
  writing.catch(() => {})
  const inCommit = "query = 'commit' AND wait_event = 'PgSleep' AND datname = current_database()"
  await until('it commits', async () => {
    const { rowCount } = await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${inCommit}`)
    return rowCount === 1
  })
  await expect(writing).rejects.toThrow(/may have been made/)
  await put(node, 'x-after')
  await until('the number is the one of the row', isUpToDate)
  expect(commits.map(({ number }) => number)).toEqual(commits.map((_, i) => (commits[0]?.number ?? 0) + i))
  expect(await names()).toContain('x-after')
})
