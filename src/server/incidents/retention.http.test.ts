// Tests how long incidents and silences are kept. [contract 10.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Fixture, newFixture } from '../../../test/support/fixture.ts'
import { type Harness, startHarness } from '../../../test/support/harness.ts'
import { newIncident } from '../../../test/support/incidents.ts'
import { deleteOldIncidents, deleteOldSilences } from './retention.ts'

let harness: Harness
let f: Fixture
beforeAll(async () => {
  harness = await startHarness()
  f = await newFixture(harness)
})
afterAll(() => harness.close())

const dayMs = 86_400_000
const rowsOf = async (table: 'incidents' | 'incident_subjects' | 'incident_timeline' | 'silences') =>
  (await harness.services.db.system.kysely.selectFrom(table).selectAll().where('org', '=', f.org.key).execute()).length

test('an ended incident is deleted with its subjects and timeline when its days are over, and an open one never', async () => {
  const { clock } = harness.services
  const longAgo = { since: clock.now() - 20 * dayMs, rooms: [f.room], rule: 'room.crowded' } as const
  const old = { ...longAgo, state: 'RESOLVED', resolvedAt: clock.now() - 11 * dayMs } as const
  const recent = await newIncident(harness, f, { ...old, resolvedAt: clock.now() - 9 * dayMs })
  const stillOpen = await newIncident(harness, f, { ...longAgo })
  const before = [await rowsOf('incidents'), await rowsOf('incident_subjects'), await rowsOf('incident_timeline')]
  const gone: string[] = []
  // More than one statement deletes.
  for (let i = 0; i < 60; i++) gone.push(await newIncident(harness, f, old))
  gone.push(
    await newIncident(harness, f, {
      ...old,
      state: 'MERGED',
      mergedInto: stillOpen,
      resolvedAt: clock.now() - 11 * dayMs,
    }),
  )

  await deleteOldIncidents(harness.services, 12, new AbortController().signal)
  expect((await f.call('GET', `/incidents/${gone[0]}`)).status).toBe(200)
  await deleteOldIncidents(harness.services, 10, new AbortController().signal)
  for (const id of gone) expect((await f.call('GET', `/incidents/${id}`)).status).toBe(404)
  for (const id of [recent, stillOpen, f.incident]) {
    expect((await f.call('GET', `/incidents/${id}`)).status).toBe(200)
  }
  expect([await rowsOf('incidents'), await rowsOf('incident_subjects'), await rowsOf('incident_timeline')]).toEqual(
    before,
  )
})

test('an incident that was resolved by hand stays while its cause lasts', async () => {
  const id = await newIncident(harness, f, { rooms: [f.room] })
  await f.call('POST', `/incidents/${id}/resolve`, { body: { note: 'We know.' } })
  harness.clock.advance(500 * dayMs)
  await deleteOldIncidents(harness.services, 400, new AbortController().signal)
  expect((await f.call('GET', `/incidents/${id}`)).body.state).toBe('RESOLVED')
})

test('silences stay as long as rollups after their end, which is the deletion of their place at the latest', async () => {
  const org = await newFixture(harness)
  const make = async (place: object, hours: number) => {
    const to = new Date(harness.clock.now() + hours * 3_600_000).toISOString()
    return (await org.call('POST', '/silences', { body: { place, reason: 'Painting.', to } })).body.id
  }
  const room = (await org.call('POST', '/rooms', { body: { name: 'Short-lived', locationId: org.location } })).body.id
  const [ofRoom, short, long] = [
    await make({ roomId: room }, 9000),
    await make({ roomId: org.room }, 1),
    await make({ all: true }, 20_000),
  ]
  const ids = async () => {
    const { kysely } = harness.services.db.system
    const rows = await kysely.selectFrom('silences').select('id').where('org', '=', org.org.key).execute()
    return rows.map(({ id }) => String(id)).filter((id) => [ofRoom, short, long].includes(id))
  }
  await org.call('DELETE', `/rooms/${room}`)
  await deleteOldSilences(harness.services)
  const keptMs = harness.services.settings.rollupRetentionSeconds * 1000
  harness.clock.advance(keptMs - 60_000)
  await deleteOldSilences(harness.services)
  expect(await ids()).toEqual([ofRoom, short, long])
  harness.clock.advance(120_000)
  await deleteOldSilences(harness.services)
  expect(await ids()).toEqual([short, long])
  harness.clock.advance(3_600_000)
  await deleteOldSilences(harness.services)
  expect(await ids()).toEqual([long])
})

test('a silence that a person ends stays with its times, and one that had not begun is gone', async () => {
  const org = await newFixture(harness)
  const make = async (from: number) => {
    const [begin, end] = [from, 9000].map((hours) => new Date(harness.clock.now() + hours * 3_600_000).toISOString())
    const body = { place: { roomId: org.room }, reason: 'Painting.', from: begin, to: end }
    return (await org.call('POST', '/silences', { body })).body.id
  }
  const [begun, coming] = [await make(-1), await make(1)]
  harness.clock.advance(60_000)
  const before = harness.clock.now()
  for (const id of [begun, coming]) expect((await org.call('DELETE', `/silences/${id}`)).status).toBe(200)
  expect((await org.call('DELETE', `/silences/${begun}`)).status).toBe(404)
  const rows = await harness.services.db.system.kysely
    .selectFrom('silences')
    .select(['id', 'version', 'since', 'until'])
    .where('org', '=', org.org.key)
    .where('id', 'in', [Number(begun), Number(coming)])
    .execute()
  expect(rows).toMatchObject([{ id: Number(begun), version: 2 }])
  const { since = 0, until } = rows[0] ?? {}
  expect(until).toBeGreaterThanOrEqual(before)
  expect(until).toBeLessThanOrEqual(harness.clock.now())
  expect(since).toBeLessThan(before - 3_600_000)
})
