// Generated courses of disconnects and connects: whatever happens, incidents fit the findings.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { IncidentWorld } from '../../../../../test/support/incidents/incident-world.ts'
import { runCount } from '../../../../../test/support/long-form.ts'
import { minuteMs } from '../../../../contract/durations.ts'

const sizes = fc.array(fc.tuple(fc.nat(6), fc.integer({ min: 1, max: 3 })), { minLength: 1, maxLength: 4 })
const events = fc.array(
  fc.record({
    devices: fc.array(fc.nat(80), { maxLength: 40 }),
    isCut: fc.boolean(),
    silenceMinutes: fc.constantFrom(0, 0, 0, 20),
    passMinutes: fc.constantFrom(0.5, 1, 2, 3, 6, 12, 61),
  }),
  { maxLength: 12 },
)

test('after any course of events each finding is in one incident, and no incident is without one [contract 10.cause]', () => {
  fc.assert(
    fc.property(sizes, events, (locations, course) => {
      const world = new IncidentWorld()
      const all = locations.flatMap(([rooms, devices], i) => world.addLocation(i + 1, rooms, devices).flat())
      all.push(...world.addRoom(1, null, 2), world.addDevice('nowhere', null))
      for (const { devices, isCut, silenceMinutes, passMinutes } of course) {
        const ids = devices.map((i) => all[i % all.length] as string)
        if (isCut) world.cut(...ids)
        else world.connect(...ids)
        for (const id of silenceMinutes > 0 ? ids : [])
          world.silencedUntil.set(id, world.now + silenceMinutes * minuteMs)
        world.pass(passMinutes * minuteMs, 30_000)
        expectConsistent(world)
      }
      world.connect(...all)
      world.pass(5 * minuteMs, 30_000)
      expect(world.openCauses).toEqual([])
      expect(world.findings).toEqual([])
      for (const { causeEndedAt } of world.incidents) expect(causeEndedAt).not.toBeNull()
    }),
    { numRuns: runCount({ short: 60, full: 150, long: 150 }) },
  )
})

function expectConsistent(world: IncidentWorld): void {
  const openIds = new Set(world.open.map(({ id }) => id))
  const known = world.incidents.map(({ id }) => id)
  expect(new Set(known).size).toBe(known.length)
  for (const { maturedAt, incidentId } of world.findings) {
    expect(maturedAt === null ? incidentId === null : openIds.has(incidentId as number)).toBe(true)
  }
  for (const { id, level, causeId } of world.open) {
    const rooms = world
      .membersOf(id)
      .map(({ subject }) => world.rooms.get(world.endpoints.get(subject.id)?.roomId ?? -1))
    expect(rooms.length).toBeGreaterThan(0)
    if (level === 'LOCATION') expect(rooms.every((room) => String(room?.locationId) === causeId)).toBe(true)
    if (level === 'ROOM') expect(rooms.every((room) => String(room?.id) === causeId)).toBe(true)
  }
  expect(new Set(world.open.map(({ level, causeId }) => `${level} ${causeId}`)).size).toBe(openIds.size)
  for (const { state, mergedInto } of world.incidents) {
    if (state === 'MERGED') expect(known).toContain(mergedInto)
  }
}
