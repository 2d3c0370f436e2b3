// Tests how endpoints become units, in which order these begin and in which stage they are. [contract 12.job]
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cumulativeCount, groupIntoUnits, orderUnits, type RoomFacts } from './units.ts'

const endpoint = (id: string, roomId: number | null) => ({ id, roomId })
const room = (id: number, more: Partial<RoomFacts> = {}): [number, RoomFacts] => [
  id,
  { id, name: `Room ${id}`, tags: [], use: 0, ...more },
]
const whole = [{ percent: 100, manual: false }]

test('a room is a unit, and an endpoint without a room is one by itself', () => {
  const units = groupIntoUnits(
    [endpoint('a', 1), endpoint('b', 2), endpoint('c', 1), endpoint('d', null), endpoint('e', null)],
    [],
  )
  expect(units.map(({ roomIds, endpoints }) => [roomIds, endpoints.map(({ id }) => id)])).toEqual([
    [[1], ['a', 'c']],
    [[2], ['b']],
    [[], ['d']],
    [[], ['e']],
  ])
})

test('rooms that pair groups span are one unit, also over a chain of groups and with rooms that are not targeted', () => {
  const units = groupIntoUnits(
    [endpoint('a', 5), endpoint('b', 3), endpoint('c', 9)],
    [
      [5, 4],
      [4, 3],
    ],
  )
  expect(units.map(({ roomIds, endpoints }) => [roomIds, endpoints.map(({ id }) => id)])).toEqual([
    [
      [3, 4, 5],
      ['a', 'b'],
    ],
    [[9], ['c']],
  ])
})

test('units tagged canary come first, then the least used, then those with the lowest id', async () => {
  const drafts = [4, 3, 2, 1].map((id) => ({ roomIds: [id], endpoints: [endpoint(`e${id}`, id)] }))
  const rooms = new Map([room(1, { use: 9 }), room(2, { use: 1 }), room(3), room(4, { use: 20, tags: ['canary'] })])
  expect((await orderUnits(drafts, rooms, whole)).map(({ number, roomIds }) => [number, roomIds[0]])).toEqual([
    [1, 4],
    [2, 3],
    [3, 2],
    [4, 1],
  ])
})

test('stages count units cumulatively, and units with a tag come into the stage of the tag', async () => {
  const drafts = Array.from({ length: 20 }, (_, i) => ({ roomIds: [i + 1], endpoints: [endpoint(`e${i}`, i + 1)] }))
  const rooms = new Map(drafts.map((_, i) => room(i + 1, i === 19 ? { tags: ['lab'] } : {})))
  const stages = [{ tags: ['lab'] }, { rooms: 2 }, { percent: 50 }, { percent: 100 }]
  const units = await orderUnits(
    drafts,
    rooms,
    stages.map((stage) => ({ ...stage, manual: false })),
  )
  expect(units.map(({ stage }) => stage)).toEqual([1, 2, ...Array(8).fill(3), ...Array(10).fill(4)])
  expect(units[0]?.roomIds).toEqual([20])
  expect(units.map(({ number }) => number)).toEqual(drafts.map((_, i) => i + 1))
})

test('every endpoint is in one unit, every room too, and stages are never larger than they say', async () => {
  const roomIds = fc.integer({ min: 1, max: 30 })
  const generated = fc.record({
    rooms: fc.array(fc.option(roomIds), { minLength: 1, maxLength: 60 }),
    pairedRooms: fc.array(fc.array(roomIds, { maxLength: 4 }), { maxLength: 8 }),
    sizes: fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { maxLength: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(generated, async ({ rooms, pairedRooms, sizes }) => {
      const endpoints = rooms.map((roomId, i) => endpoint(`e${i}`, roomId))
      const drafts = groupIntoUnits(endpoints, pairedRooms)
      const stages = [...sizes.sort((a, b) => a - b), 100].map((percent) => ({ percent, manual: false }))
      const units = await orderUnits(drafts, new Map(), stages)
      expect(units.flatMap((unit) => unit.endpoints.map(({ id }) => id)).sort()).toEqual(
        endpoints.map(({ id }) => id).sort(),
      )
      const shown = units.flatMap((unit) => unit.roomIds)
      expect(new Set(shown).size).toBe(shown.length)
      for (const { roomIds, endpoints: members } of units) {
        for (const { roomId } of members) if (roomId !== null) expect(roomIds).toContain(roomId)
      }
      for (const together of pairedRooms.filter(([first]) => units.some((unit) => unit.roomIds.includes(first ?? 0)))) {
        const unit = units.find(({ roomIds }) => roomIds.includes(together[0] ?? 0))
        expect(unit?.roomIds).toEqual(expect.arrayContaining(together))
      }
      for (const [i, stage] of stages.entries()) {
        const upTo = units.filter((unit) => unit.stage <= i + 1).length
        expect(upTo).toBe(cumulativeCount(stage, units.length))
      }
    }),
  )
})
