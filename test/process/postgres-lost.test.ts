// Connections to PostgreSQL that are lost without a sign: they are given up, and what was sent on them does not happen later.
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freezableCluster, frozen, swallowed } from '../support/database/outages.ts'
import { engine, type Harness, newPlace, startHarness } from '../support/harness.ts'
import { Site, until } from '../support/program.ts'

const isReady = async ({ call }: Harness) => (await call('GET', '/readyz')).status === 200

describe.runIf(engine === 'postgres')('PostgreSQL', () => {
  let cluster: Awaited<ReturnType<typeof freezableCluster>>
  beforeAll(async () => {
    cluster = await freezableCluster()
  })
  afterAll(() => cluster.stop())

  const houseBehindWire = async () => {
    const wire = await swallowed(cluster)
    const house = await startHarness({ databaseUrl: wire.databaseUrl })
    onTestFinished(() => house.close())
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
    return { house, wire, rows }
  }

  test('connections that are lost are replaced, the one with the lock too, and the server goes on', async () => {
    const { house, wire, rows } = await houseBehindWire()
    const org = await house.newOrg()
    const holders = async () =>
      (
        await rows(`SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
          WHERE l.locktype = 'advisory' AND l.granted AND d.datname = current_database()`)
      ).map(({ pid }) => pid)
    const [before] = await holders()
    expect(before).toBeGreaterThan(0)
    wire.loseOpen()
    await until('the outage is noticed', async () => !(await isReady(house)))
    await until('it is ready', () => isReady(house), { within: 6000 })
    expect((await org.call('POST', '/regions', { body: { name: 'Europe' } })).status).toBe(200)
    expect((await org.call('GET', '/regions')).body.regions).toHaveLength(1)
    const after = await until(
      'the lock is taken over',
      async () => {
        const now = await holders()
        return now.length === 1 && now[0] !== before && now
      },
      { within: 25_000, every: 200 },
    )
    expect(after).toHaveLength(1)
    expect((await org.call('POST', '/regions', { body: { name: 'Asia' } })).status).toBe(200)
    expect(
      house.logged.filter(({ msg }) => msg === 'server lock taken again after the database connection was lost'),
    ).toHaveLength(1)
  }, 90_000)

  test('a commit on a lost connection that arrives after the service is ready again does not happen', async () => {
    const { house, wire, rows } = await houseBehindWire()
    const { db } = house.services
    const put = (value: string) =>
      db.systemTransaction((on) =>
        on.kysely
          .insertInto('settings')
          .values({ name: 'late', value })
          .onConflict((c) => c.column('name').doUpdateSet({ value }))
          .execute(),
      )
    const stored = () => rows("SELECT value FROM settings WHERE name = 'late'")
    await put('before')
    wire.loseOpen()
    // Sent over the connection that is there, together with its COMMIT.
    await expect(put('given up')).rejects.toThrow(/the change may have been made/)
    await until('it is ready', () => isReady(house))
    const sessions = async () =>
      Number((await rows("SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'roomkeeper'"))[0].n)
    const open = await sessions()
    wire.deliverLost()
    await put('after')
    await until('what is late has ended', async () => (await sessions()) <= open)
    await pause(500)
    expect(await stored()).toEqual([{ value: 'after' }])
  }, 60_000)

  test('a server that is stopped while PostgreSQL is frozen ends by itself', async () => {
    const outage = await frozen(cluster)
    const { place, remove } = await newPlace()
    const site = new Site({ dataDir: place.dataDir, databaseUrl: outage.databaseUrl }, remove)
    onTestFinished(() => site.close())
    const server = await site.serve()
    await server.printed(/^Open the console/m)
    outage.begin()
    await until('it is noticed', async () => (await fetch(`${server.url}/readyz`)).status === 503)
    server.signal('SIGTERM')
    expect((await server.exit(20_000)).code).toBe(0)
  }, 60_000)
})
