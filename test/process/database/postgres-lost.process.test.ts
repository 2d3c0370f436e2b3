// Connections to PostgreSQL that are lost without a sign: they are given up, and what was sent on them does not happen later.
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemWrite } from '../../../src/server/db/system.ts'
import { freezableCluster, frozen, swallowed } from '../../support/database/outages.ts'
import { engine, type Harness, newPlace, startHarness, type TestOrg } from '../../support/harness.ts'
import { Site, until } from '../../support/program.ts'
import { shortenLimits } from '../../support/short-limits.ts'

/** The server gives up a connection without an answer after 4.4 s instead of 10. */
const { limits, variable } = shortenLimits(0.3)

/** Returns no rows, so that it is not awaited: it is sent together with its COMMIT. */
const upsert = systemWrite((db, p: { name: string; value: string }) =>
  db
    .insertInto('settings')
    .values({ name: p.name, value: p.value })
    .onConflict((c) => c.column('name').doUpdateSet({ value: p.value })),
)

/** New connections are lost too at first: otherwise scheduled tasks may replace all others before a health check notices anything. */
async function loseUntilNoticed(harness: Harness, wire: Awaited<ReturnType<typeof swallowed>>): Promise<void> {
  wire.loseOpen()
  wire.begin()
  await until('the outage is noticed', async () => !(await isReady(harness)))
  wire.end()
}

const isReady = async ({ call }: Harness) => (await call('GET', '/readyz')).status === 200

describe.runIf(engine === 'postgres')('PostgreSQL', () => {
  let cluster: Awaited<ReturnType<typeof freezableCluster>>
  beforeAll(async () => {
    cluster = await freezableCluster()
  })
  afterAll(() => cluster.stop())

  const houseBehindWire = async () => {
    const wire = await swallowed(cluster)
    const harness = await startHarness({ databaseUrl: wire.databaseUrl }, { limits })
    onTestFinished(() => harness.close())
    const direct = new URL(wire.databaseUrl)
    direct.port = new URL(cluster.url).port
    const rows = async (text: string) => {
      const client = new pg.Client({ connectionString: direct.href })
      await client.connect()
      try {
        return (await client.query(text)).rows
      } finally {
        await client.end()
      }
    }
    return { harness, wire, rows, directUrl: direct.href }
  }

  test('connections that are lost are replaced, the one with the locks too, and the server goes on', async () => {
    const { harness, wire, rows } = await houseBehindWire()
    const org = await harness.newOrg()
    const holders = async () =>
      (
        await rows(`SELECT DISTINCT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
          WHERE l.locktype = 'advisory' AND l.granted AND d.datname = current_database()`)
      ).map(({ pid }) => pid)
    const [before] = await holders()
    expect(before).toBeGreaterThan(0)
    await loseUntilNoticed(harness, wire)
    await until('it is ready', () => isReady(harness))
    expect((await org.call('POST', '/regions', { body: { name: 'Europe' } })).status).toBe(200)
    expect((await org.call('GET', '/regions')).body.regions).toHaveLength(1)
    const after = await until(
      'the locks are taken over',
      async () => {
        const now = await holders()
        return now.length === 1 && now[0] !== before && now
      },
      { timeoutMs: 25_000, everyMs: 200 },
    )
    expect(after).toHaveLength(1)
    expect((await org.call('POST', '/regions', { body: { name: 'Asia' } })).status).toBe(200)
    expect(
      harness.logged.filter(({ msg }) => msg === 'message session is back after the database connection was lost'),
    ).not.toHaveLength(0)
  })

  test('a COMMIT that arrives after its caller was told of a lost connection does not happen', async () => {
    const { harness, wire, rows } = await houseBehindWire()
    const { db } = harness.services
    const put = (value: string) => db.systemTransaction(async (on) => upsert(on, { name: 'late', value }))
    const stored = () => rows("SELECT value FROM settings WHERE name = 'late'")
    // If a commit of the server itself is under way, that one is lost, and this one is not begun.
    const loseCommit = async () => {
      await until('it is ready', () => isReady(harness))
      await put('before')
      wire.loseOpen()
      const problem = await put('given up').catch(({ message }) => message)
      expect(problem).toMatch(/the change may have been made|nothing was changed/)
      return /may have been made/.test(problem)
    }
    await until('the COMMIT is lost', loseCommit, { timeoutMs: 40_000 })
    // The caller looks immediately, and the COMMIT arrives after that.
    expect(await stored()).toEqual([{ value: 'before' }])
    wire.deliverLost()
    // PostgreSQL would have done it by then, if the session still existed.
    await pause(1000)
    expect(await stored()).toEqual([{ value: 'before' }])
    await until('it is ready', () => isReady(harness))
    await put('after')
    expect(await stored()).toEqual([{ value: 'after' }])
  })

  test('a write that was answered 503 "nothing was changed" is not made, and one that may have been made says so', async () => {
    const { harness, wire, rows, directUrl } = await houseBehindWire()
    const [one, other] = [await harness.newOrg(), await harness.newOrg()]
    const create = (org: TestOrg, name: string) => org.call('POST', '/regions', { body: { name } })
    const names = async (org: TestOrg) =>
      (await org.call('GET', '/regions')).body.regions.map(({ name }: { name: string }) => name)
    for (const org of [one, other]) expect((await create(org, 'first')).status).toBe(200)
    // A deferred trigger runs in the COMMIT: the answer to it is lost, and the COMMIT itself is not.
    await rows(`
      CREATE FUNCTION wait_in_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(3); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER wait_in_commit AFTER INSERT ON regions DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.name = 'in its commit') EXECUTE FUNCTION wait_in_commit()`)
    const lock = new pg.Client({ connectionString: directUrl })
    await lock.connect()
    onTestFinished(() => lock.end())
    await lock.query('BEGIN')
    await lock.query('SELECT 1 FROM audit_heads WHERE org = $1 FOR UPDATE', [other.org.key])
    const beginning = create(other, 'at its beginning')
    const committing = create(one, 'in its commit')
    await until('one commits, and the other waits for the lock', async () => {
      const waiting = await rows(`SELECT wait_event_type FROM pg_stat_activity
        WHERE datname = current_database() AND (wait_event = 'PgSleep' OR wait_event_type = 'Lock')`)
      return waiting.length === 2
    })
    wire.loseOpen()
    wire.begin()
    await until('the outage is noticed', async () => !(await isReady(harness)))
    const refused = await create(other, 'in the outage')
    expect(refused.body).toMatchObject({ status: 503, message: expect.stringContaining('nothing was changed') })
    expect((await beginning).body).toMatchObject({
      status: 503,
      message: expect.stringContaining('nothing was changed'),
    })
    expect((await committing).body).toMatchObject({
      status: 503,
      message: expect.stringContaining('the change may have been made'),
    })
    wire.deliverLost()
    wire.end()
    await until('it is ready', () => isReady(harness))
    expect(await names(one)).toEqual(['first', 'in its commit'])
    expect(await names(other)).toEqual(['first'])
  })

  test('a server that is stopped while PostgreSQL is frozen ends by itself', async () => {
    const outage = await frozen(cluster)
    const { place, remove } = await newPlace()
    const site = new Site({ dataDir: place.dataDir, databaseUrl: outage.databaseUrl }, remove, variable)
    onTestFinished(() => site.close())
    const server = await site.serve()
    outage.begin()
    await until('it is noticed', async () => (await fetch(`${server.url}/readyz`)).status === 503)
    server.signal('SIGTERM')
    expect((await server.exit(20_000)).code).toBe(0)
  })
})
