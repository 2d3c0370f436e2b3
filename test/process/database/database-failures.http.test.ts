// Bad luck with the database: lost connections, foreign locks, a full disk. The service says so, loses nothing and goes on.

import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDatabase } from '../../../src/server/db/open.ts'
import { engine, type Harness, newPlace, startHarness, type TestOrg } from '../../support/harness.ts'

let harness: Harness
let org: TestOrg
beforeEach(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
})
afterEach(() => harness.close())

const create = (name: string) => org.call('POST', '/regions', { body: { name } })
const names = async () => (await org.call('GET', '/regions')).body.regions.map((r: { name: string }) => r.name)

/** Another program that holds the database's write lock. */
async function foreignLock(): Promise<() => Promise<void>> {
  if (engine === 'sqlite') {
    const other = new Database(join(harness.place.dataDir, 'roomkeeper.db'))
    other.exec('BEGIN IMMEDIATE')
    return async () => {
      other.close()
    }
  }
  const other = new pg.Client({ connectionString: harness.place.databaseUrl })
  await other.connect()
  await other.query('BEGIN')
  await other.query('SELECT * FROM audit_heads FOR UPDATE')
  return async () => {
    await other.query('ROLLBACK')
    await other.end()
  }
}

describe('a write lock that another program holds', () => {
  test('makes only writes wait; they are done when it is freed', async () => {
    const free = await foreignLock()
    let isDone = false
    const waiting = create('waited').finally(() => {
      isDone = true
    })
    for (let i = 0; i < 5; i++) {
      expect((await harness.call('GET', '/livez')).status).toBe(200)
      expect((await org.call('GET', '/regions')).status).toBe(200)
    }
    expect(isDone, 'the write still waits').toBe(false)
    await free()
    expect((await waiting).status).toBe(200)
    expect(await names()).toEqual(['waited'])
  })

  test('for too long is a 409, and nothing was changed', async () => {
    const free = await foreignLock()
    const refused = await create('too late')
    expect(refused.body).toMatchObject({ status: 409, code: 'ABORTED' })
    await free()
    expect(await names()).toEqual([])
    expect((await create('later')).status).toBe(200)
  })
})

if (engine === 'postgres') {
  const admin = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: harness.place.databaseUrl })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }
  const terminate = (where: string) =>
    admin((client) =>
      client.query(
        `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${where}`,
      ),
    )
  /** How many wait for a lock. */
  const waiting = () =>
    admin((client) =>
      client
        .query("SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
        .then((found) => found.rowCount),
    )

  /** Another program that locks the regions against all readers. */
  const lockRegions = async () => {
    const other = new pg.Client({ connectionString: harness.place.databaseUrl })
    await other.connect()
    await other.query('BEGIN; LOCK TABLE regions IN ACCESS EXCLUSIVE MODE')
    return () => other.end()
  }

  describe('a connection that PostgreSQL ends', () => {
    test('before the COMMIT of a write is a 503 that says that nothing was changed, and nothing was; the service goes on', async () => {
      const free = await foreignLock()
      const writing = create('cut off')
      await expect.poll(waiting).toBe(1)
      await terminate("wait_event_type = 'Lock'")
      const cut = await writing
      expect(cut.body).toMatchObject({ status: 503, code: 'UNAVAILABLE' })
      expect(cut.headers.get('retry-after')).toBe('5')
      expect(cut.body.message).toContain('nothing was changed')
      await free()
      expect((await create('afterwards')).status).toBe(200)
      expect(await names()).toEqual(['afterwards'])
    })

    test('during the COMMIT of a write is a 503 that says that the change may have been made', async () => {
      // A deferred trigger runs in the COMMIT, so that the test can end the session there.
      await admin((client) =>
        client.query(`
          CREATE FUNCTION wait_in_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(8); RETURN NULL; END $$;
          CREATE CONSTRAINT TRIGGER wait_in_commit AFTER INSERT ON regions DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW WHEN (NEW.name = 'cut off') EXECUTE FUNCTION wait_in_commit()`),
      )
      const writing = create('cut off')
      await expect
        .poll(async () => (await terminate("query = 'commit' AND wait_event = 'PgSleep'")).rowCount, { timeout: 5000 })
        .toBe(1)
      const cut = await writing
      expect(cut.body).toMatchObject({ status: 503, code: 'UNAVAILABLE' })
      expect(cut.body.message).toMatch(/the change may have been made\. Read before you try again\.$/)
      expect(cut.headers.get('retry-after'), 'a client must not repeat it by itself').toBeNull()
      expect((await create('afterwards')).status).toBe(200)
      expect(await names()).toEqual(['afterwards'])
    })

    test('in the middle of a read does not fail it: it is read over another', async () => {
      await create('before')
      const free = await lockRegions()
      const reading = names()
      const ended = new Set<number>()
      const endWaiting = async () => {
        for (const { pid } of (await terminate("wait_event_type = 'Lock'")).rows) ended.add(pid)
        return ended.size
      }
      await expect.poll(endWaiting, { timeout: 5000, interval: 20 }).toBe(2)
      await free()
      expect(await reading).toEqual(['before'])
    })

    test('after more than a second is a 503, and it is not read again: perhaps it was ended because it took so long', async () => {
      const free = await lockRegions()
      const reading = org.call('GET', '/regions')
      const long = "wait_event_type = 'Lock' AND clock_timestamp() - query_start > interval '1 second'"
      await expect.poll(async () => (await terminate(long)).rowCount, { timeout: 10_000 }).toBe(1)
      expect((await reading).body).toMatchObject({ status: 503, code: 'UNAVAILABLE' })
      await free()
    })

    test('with all the others, idle ones and the one with the locks included, is replaced; both locks are taken again', async () => {
      await create('before')
      await terminate('true')
      await expect.poll(async () => (await create('after')).status, { timeout: 5000 }).toBe(200)
      expect(await names()).toEqual(['before', 'after'])
      const locks = () =>
        admin((c) =>
          c
            .query(
              "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            )
            .then((r) => r.rowCount),
        )
      await expect.poll(locks, { timeout: 5000 }).toBe(2)
    })
  })

  test('a user who may not create tables is told what to do', async () => {
    const role = `poor_${Math.random().toString(36).slice(2)}`
    const { place, remove } = await newPlace()
    const query = async (text: string) => {
      const client = new pg.Client({ connectionString: place.databaseUrl })
      await client.connect()
      await client.query(text)
      await client.end()
    }
    await query(`CREATE ROLE ${role} LOGIN PASSWORD 'poor'; REVOKE CREATE ON SCHEMA public FROM PUBLIC`)
    try {
      const url = new URL(place.databaseUrl ?? '')
      url.username = role
      url.password = 'poor'
      const opening = openDatabase(
        { ...place, databaseUrl: url.href },
        { isLocked: true, mustExist: false, onError() {} },
      )
      await expect(opening).rejects.toThrow(/GRANT CREATE ON SCHEMA/)
    } finally {
      await remove()
      await admin((c) => c.query(`DROP ROLE ${role}`))
    }
  })
} else {
  test('a full disk is a 503 that says so, nothing is changed, and it goes on when there is space', async () => {
    await create('before')
    const limit = (pages: number) =>
      sql`pragma max_page_count = ${sql.raw(String(pages))}`.execute(harness.services.db.schema)
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(harness.services.db.schema)
    await limit(rows[0]?.page_count ?? 0)
    // A shorter one can still find space.
    const large = 'x'.repeat(100)
    let refused = await create(large)
    for (let i = 1; refused.status === 200 && i < 500; i++) refused = await create(large)
    expect(refused.body).toMatchObject({ status: 503, code: 'UNAVAILABLE' })
    expect(refused.body.message).toContain('full')
    const before = await names()
    expect((await create(large)).status).toBe(503)
    expect(await names()).toEqual(before)
    await limit(1_000_000)
    expect((await create('space again')).status).toBe(200)
  })
}
