// Packed quarters are read as they were written, and a room's quarter is made of those of its devices.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { roomDaySensors } from '../../db/schema/schema.ts'
import {
  decodeQuarters,
  emptyDay,
  encodeQuarters,
  isPresenceMark,
  notMeasured,
  packPeople,
  peopleHundredths,
  quartersPerDay,
} from './quarter-values.ts'
import { airOf, type DeviceQuarter, peopleOf } from './room-quarters.ts'

test('a day is read as it was written, whatever its values, in no more bytes than they need', () => {
  const value = fc.oneof(
    fc.constant(notMeasured),
    fc.integer({ min: 0, max: 250 }),
    fc.integer({ min: 0, max: 3_000_000 }),
  )
  fc.assert(
    fc.property(
      fc.array(value, { minLength: quartersPerDay, maxLength: quartersPerDay }),
      fc.constantFrom(...roomDaySensors),
      (values, sensor) => {
        const day = Int32Array.from(values)
        const bytes = encodeQuarters(day, sensor)
        expect(bytes === null).toBe(values.every((one) => one === notMeasured))
        expect(decodeQuarters(bytes, sensor)).toEqual(day)
      },
    ),
    { numRuns: 300 },
  )
})

test('the width follows the largest value, and temperatures below zero are kept', () => {
  const day = (value: number) => emptyDay().fill(value, 40, 41)
  expect([0, 254, 255, 65_534, 65_535].map((value) => encodeQuarters(day(value), 'co2')?.length)).toEqual(
    [1, 1, 2, 2, 4].map((width) => width * quartersPerDay),
  )
  for (const value of [-400, -1, 0, 850]) {
    expect(decodeQuarters(encodeQuarters(day(value), 'temp'), 'temp')).toEqual(day(value))
  }
})

const device = (isPresence: boolean, people?: [count: number, sum: number], co2?: [number, number]): DeviceQuarter => {
  const of = (pair?: [number, number]) => (pair ? { count: pair[0], sum: pair[1] } : undefined)
  return {
    isPresence,
    sums: {
      people: of(people),
      co2: of(co2),
      humidity: undefined,
      temp: undefined,
      voc: undefined,
      voc_index: undefined,
    },
  }
}
const shown = (packed: number | undefined) =>
  packed === undefined ? undefined : [peopleHundredths(packed) / 100, isPresenceMark(packed)]

test('the people of a quarter are the largest mean of its devices, and marked if none that counts saw as many', () => {
  const [counter, other, presence] = [device(false, [15, 60]), device(false, [14, 56]), device(true, [10, 10])]
  expect(shown(peopleOf([counter, other, presence]))).toEqual([4, false])
  expect(shown(peopleOf([device(false, [10, 1]), presence]))).toEqual([1, true])
  for (const devices of [
    [device(false, [10, 10]), presence],
    [presence, device(false, [10, 10])],
  ]) {
    expect(shown(peopleOf(devices))).toEqual([1, false])
  }
  expect(shown(peopleOf([device(false, [15, 0])]))).toEqual([0, false])
  expect(peopleOf([device(false), device(true)])).toBeUndefined()
  expect(peopleOf([])).toBeUndefined()
  expect(packPeople(40, true)).toBe(81)
})

test('the air of a quarter is the mean of the means of its devices, however many samples each has sent', () => {
  expect(
    airOf([device(false, undefined, [15, 15_000]), device(false, undefined, [1, 500]), device(false)], 'co2'),
  ).toBe(750)
  expect(airOf([device(false, [1, 1])], 'co2')).toBeUndefined()
})
