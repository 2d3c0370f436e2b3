// Tests how long incidents and silences are kept. [contract 10.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Fixture, newFixture } from '../../../test/support/fixture.ts'
import { type Harness, startHarness } from '../../../test/support/harness.ts'
import { newIncident } from '../../../test/support/incidents.ts'
import { deleteOldIncidents } from './retention.ts'

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

test('silences are deleted long after their end, and when their place was deleted', async () => {
  const org = await newFixture(harness)
  const make = async (place: object, hours: number) => {
    const to = new Date(harness.clock.now() + hours * 3_600_000).toISOString()
    return (await org.call('POST', '/silences', { body: { place, reason: 'Painting.', to } })).body.id
  }
  const room = (await org.call('POST', '/rooms', { body: { name: 'Short-lived', locationId: org.location } })).body.id
  const [ofRoom, short, long] = [
    await make({ roomId: room }, 9000),
    await make({ roomId: org.room }, 1),
    await make({ all: true }, 9000),
  ]
  const ids = async () => {
    const { kysely } = harness.services.db.system
    const rows = await kysely.selectFrom('silences').select('id').where('org', '=', org.org.key).execute()
    return rows.map(({ id }) => String(id)).sort()
  }
  await org.call('DELETE', `/rooms/${room}`)
  harness.clock.advance(5 * dayMs)
  await deleteOldIncidents(harness.services, 30, new AbortController().signal)
  expect(await ids()).not.toContain(ofRoom)
  expect(await ids()).toContain(short)
  await deleteOldIncidents(harness.services, 4, new AbortController().signal)
  expect(await ids()).toEqual([long])
})
