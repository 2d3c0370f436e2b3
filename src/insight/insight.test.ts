// Compares the counting of use, availability and air with a plain calculation, second by second and quarter by quarter, and runs the example of docs/insight.md.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { generatedRuns } from '../../test/support/long-form.ts'
import { availabilityClasses } from '../contract/reports/availability.ts'
import { weekdays } from '../contract/weekly-hours.ts'
import { addAir, airBits, airFigures, isOutside, type Limit, noAir } from './air.ts'
import {
  AvailabilityAdder,
  availabilityShare,
  type ClassOptions,
  classify,
  cutAtCounted,
  type DevicePast,
  excludableClasses,
  noAvailability,
  type RoomPast,
} from './availability.ts'
import { type CountedHours, type CountedQuarter, countedPeriods, countedQuarters } from './counted-time.ts'
import type { SecondsPeriod } from './periods.ts'
import { addUse, noUse, type QuarterPeople, useFigures } from './use.ts'

/** Zones that change their clocks by an hour or half of one, at midnight too, or not at all. */
const zones = [
  ...[
    'Europe/Oslo',
    'Europe/London',
    'Europe/Lisbon',
    'Europe/Chisinau',
    'Africa/Cairo',
    'Asia/Beirut',
    'Asia/Kathmandu',
  ],
  ...['America/New_York', 'America/Los_Angeles', 'America/St_Johns', 'America/Havana', 'America/Santiago', 'UTC'],
  ...['Australia/Sydney', 'Australia/Lord_Howe', 'Pacific/Auckland', 'Pacific/Chatham', 'Asia/Jerusalem', 'Asia/Tokyo'],
  ...['America/Asuncion'],
]
const formats = new Map(
  zones.map((timeZone) => {
    const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
    return [timeZone, new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...parts })]
  }),
)
/** The clocks of a zone, as Intl shows them; changes are at whole minutes. */
function localTime(zone: string, seconds: number): number {
  const parts = formats.get(zone)?.formatToParts(seconds * 1000) ?? []
  const [year, month, day, hour, minute] = ['year', 'month', 'day', 'hour', 'minute'].map((type) =>
    Number(parts.find((part) => part.type === type)?.value),
  ) as [number, number, number, number, number]
  return Date.UTC(year, month - 1, day, hour, minute) / 1000 + (seconds % 60)
}

function countAvailability(
  room: RoomPast,
  { counted, ...options }: ClassOptions & { readonly counted: readonly SecondsPeriod[] },
) {
  const periods = [...classify(room, options)].filter((period) => period !== undefined)
  const sums = noAvailability()
  const adder = new AvailabilityAdder(sums)
  const shown = [...cutAtCounted(periods, counted)]
  for (const period of shown) adder.add(period)
  for (const name of availabilityClasses) {
    const lengths = shown.filter((period) => period.name === name).map(({ from, to }) => to - from)
    expect(lengths.reduce((a, b) => a + b, 0)).toBe(sums.seconds[name])
  }
  return { ...sums, availability: availabilityShare(sums) }
}

/** The air of one room. */
function countAir(
  quarters: readonly CountedQuarter[],
  valueIn: (quarter: number) => number | undefined,
  limit: Limit,
  isUsed: ((quarter: number) => boolean) | undefined,
) {
  const sums = noAir(1)
  const bitsIn = (quarter: number) => {
    const value = valueIn(quarter)
    return value === undefined ? 0 : airBits(0, isOutside(value, limit))
  }
  addAir(sums, quarters, bitsIn, isUsed)
  expect(sums.fields).toEqual([{ measured: sums.measured, outside: sums.outside }])
  return airFigures(sums)
}

const monthSeconds = 31 * 86_400
/** March and October, in which most clocks change. */
const starts = [Date.UTC(2026, 2, 10) / 1000, Date.UTC(2026, 9, 10) / 1000, Date.UTC(2026, 8, 1) / 1000 + 437]

const hours: fc.Arbitrary<CountedHours | undefined> = fc.option(
  fc
    .tuple(
      fc.integer({ min: 0, max: 95 }),
      fc.integer({ min: 1, max: 96 }),
      fc.subarray([...weekdays], { minLength: 1 }),
    )
    // An end that is not later than the start is on the next day.
    .map(([a, b, days]) => ({ from: a * 900, to: (b <= a ? b + 96 : b) * 900, days })),
  { nil: undefined, freq: 4 },
)
const window = fc.record({
  zone: fc.constantFrom(...zones),
  start: fc.constantFrom(...starts),
  skipped: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 86_400 })),
  length: fc.oneof({ weight: 8, arbitrary: fc.constant(monthSeconds) }, { weight: 1, arbitrary: fc.constant(60) }),
  hours,
})
const windowOf = ({
  zone,
  start,
  skipped,
  length,
  hours,
}: typeof window extends fc.Arbitrary<infer T> ? T : never) => ({
  from: start + skipped,
  to: Math.min(start + skipped + length, start + monthSeconds),
  hours,
  localTime: (seconds: number) => localTime(zone, seconds),
})

/** Periods with seconds from the start of the month: long ones, and short ones of some minutes. */
const periods = (maxCount: number) =>
  fc.array(
    fc
      .tuple(
        fc.integer({ min: -9000, max: monthSeconds }),
        fc.oneof(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 0, max: 900_000 })),
      )
      .map(([from, length]): SecondsPeriod => [from, from + length]),
    { maxLength: maxCount },
  )
const device = fc.record({
  kind: fc.constantFrom('CODEC', 'COMPUTER', 'DISPLAY', 'SENSOR', 'GATEWAY', 'NETWORK'),
  present: fc.oneof(fc.constant<SecondsPeriod[]>([[0, monthSeconds]]), periods(3)),
  connected: periods(12),
  service: periods(3),
  unknown: periods(3),
  asleep: periods(3),
  silenced: periods(2),
})
const past = fc.record({
  devices: fc.array(device, { maxLength: 3 }),
  silenced: periods(3),
  changeWindows: periods(5),
  impaired: periods(5),
  known: fc.tuple(fc.integer({ min: 0, max: 400_000 }), fc.integer({ min: monthSeconds - 400_000, max: monthSeconds })),
})
const shift = (list: readonly SecondsPeriod[], by: number): SecondsPeriod[] =>
  list.map(([from, to]) => [from + by, to + by])
const shiftRoom = (room: RoomPast, by: number): RoomPast => ({
  devices: room.devices.map((d) => ({
    ...{
      kind: d.kind,
      present: shift(d.present, by),
      connected: shift(d.connected, by),
      service: shift(d.service, by),
    },
    ...{ unknown: shift(d.unknown, by), asleep: shift(d.asleep, by), silenced: shift(d.silenced, by) },
  })),
  silenced: shift(room.silenced, by),
  changeWindows: shift(room.changeWindows, by),
  impaired: shift(room.impaired, by),
  known: [room.known[0] + by, room.known[1] + by],
})

/** One number for each second of the month, 1 while the thing holds. */
function bySecond(list: readonly SecondsPeriod[]): Uint8Array {
  const seconds = new Uint8Array(monthSeconds)
  for (const [from, to] of list) seconds.fill(1, Math.max(0, from), Math.max(0, to))
  return seconds
}

/** For each second of the month, the sum of the bits 1, 2, 4 … of the lists that have it. */
function bitsBySecond(lists: readonly (readonly SecondsPeriod[])[]): Uint8Array {
  const seconds = new Uint8Array(monthSeconds)
  lists.forEach((list, i) => {
    for (const [from, to] of list) {
      for (let s = Math.max(0, from); s < Math.min(to, monthSeconds); s++)
        seconds[s] = (seconds[s] as number) | (1 << i)
    }
  })
  return seconds
}

/** Judges each second by itself, as docs/insight.md says. `counted` has a number for each second. */
function plainAvailability(room: RoomPast, counted: Uint8Array, ignoreUnder: number, excluded: ReadonlySet<string>) {
  const ofRoom = bitsBySecond([room.silenced, room.changeWindows, room.impaired, [room.known]])
  const isCodec = ({ kind }: DevicePast) => kind === 'CODEC' || kind === 'COMPUTER'
  const mains = room.devices.filter(({ kind }) => kind !== 'GATEWAY' && kind !== 'NETWORK')
  const bitsOf = (list: readonly DevicePast[]) =>
    list.map((d) => bitsBySecond([d.present, d.connected, d.service, d.unknown, d.asleep, d.silenced]))
  const codecs = bitsOf(mains.filter(isCodec))
  const others = bitsOf(mains.filter((d) => !isCodec(d)))
  const counts: Record<string, number> = Object.fromEntries(availabilityClasses.map((name) => [name, 0]))
  const add = (name: string, seconds = 1) => {
    counts[name] = (counts[name] ?? 0) + seconds
  }
  let [impaired, outages, longest, length, charged] = [0, 0, 0, 0, 0]
  const endGap = () => {
    if (length < ignoreUnder && excluded.has('short')) add('short', charged)
    else {
      add('charged', charged)
      if (charged > 0) outages++
      longest = Math.max(longest, charged)
    }
    length = 0
    charged = 0
  }
  for (let s = 0; s < monthSeconds; s++) {
    const bits = ofRoom[s] as number
    let any = 0
    let all = 255
    for (const list of [codecs, others]) {
      if ((any & 1) === 1) break
      for (const device of list) {
        const one = device[s] as number
        if ((one & 1) === 0) continue
        any |= one
        all &= one
      }
    }
    const isCounted = counted[s] === 1
    if ((bits & 8) === 0 || (any & 1) === 0) {
      endGap()
      if (isCounted) add('notKnown')
      continue
    }
    const isUp = (any & 2) !== 0
    if (isUp) endGap()
    else length++
    if (!isCounted) continue
    if (((bits & 1) !== 0 || (all & 32) !== 0) && excluded.has('silenced')) add('silenced')
    else if ((bits & 2) !== 0 && excluded.has('changeWindow')) add('changeWindow')
    else if (isUp) {
      add('up')
      if ((bits & 4) !== 0) impaired++
    } else if ((any & 4) !== 0 && excluded.has('service')) add('service')
    else if ((any & 8) !== 0 && excluded.has('unknown')) add('unknown')
    else if ((any & 16) !== 0 && excluded.has('asleep')) add('asleep')
    else charged++
  }
  endGap()
  return { counts, impaired, outages, longest }
}

test('the availability of generated months equals a count of their seconds, and all classes add up to the window', () => {
  fc.assert(
    fc.property(
      past,
      window,
      fc.constantFrom(0, 300, 3600),
      fc.subarray([...excludableClasses]),
      (room, chosen, ignoreUnderSeconds, excludedList) => {
        const excluded = new Set(excludedList)
        const counted = countedPeriods(windowOf(chosen))
        const { seconds, impairedSeconds, outages, longestOutageSeconds, availability } = countAvailability(
          shiftRoom(room, chosen.start),
          { counted, ignoreUnderSeconds, excluded },
        )
        const plain = plainAvailability(room, bySecond(shift(counted, -chosen.start)), ignoreUnderSeconds, excluded)
        expect(seconds).toEqual(plain.counts)
        expect([impairedSeconds, outages, longestOutageSeconds]).toEqual([plain.impaired, plain.outages, plain.longest])
        const total = counted.reduce((sum, [from, to]) => sum + to - from, 0)
        expect(Object.values(seconds).reduce((a, b) => a + b)).toBe(total)
        const { up, short, charged } = seconds
        if (availability === undefined) expect(up + short + charged).toBe(0)
        else expect(availability).toBe(1 - charged / (up + short + charged))
      },
    ),
    generatedRuns({ short: 8, full: 300, long: 10_000 }),
  )
})

test('the counted time of generated windows is every minute whose clock shows the hours, on their days', () => {
  fc.assert(
    fc.property(window, (chosen) => {
      const asked = windowOf(chosen)
      let minutes = 0
      for (let at = Math.ceil(asked.from / 60) * 60; at + 60 <= asked.to; at += 60) {
        const local = new Date(localTime(chosen.zone, at) * 1000)
        const time = local.getUTCHours() * 3600 + local.getUTCMinutes() * 60
        const { hours } = chosen
        const isIn = (daysAgo: number) => {
          const [since, name] = [time + daysAgo * 86_400, weekdays[(local.getUTCDay() + 6 - daysAgo) % 7]]
          return hours && name && hours.days.includes(name) && since >= hours.from && since < hours.to
        }
        if (!hours || isIn(0) || isIn(1)) minutes++
      }
      const seconds = countedPeriods(asked).reduce((sum, [from, to]) => sum + to - from, 0)
      // The window can begin and end within a minute.
      expect(Math.abs(seconds - minutes * 60)).toBeLessThan(120)
    }),
    generatedRuns({ short: 4, full: 60, long: 400 }),
  )
})

test('use and air of generated months equal a plain count of their quarters', () => {
  const people = fc.option(fc.record({ hundredths: fc.integer({ min: 0, max: 900 }), isPresence: fc.boolean() }), {
    nil: undefined,
  })
  const quarter = fc.record({
    people: fc.option(people, { nil: undefined }),
    air: fc.option(fc.integer({ min: 300, max: 1500 }), { nil: undefined }),
  })
  fc.assert(
    fc.property(
      fc.array(quarter, { minLength: 40, maxLength: 300 }),
      fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
      fc.boolean(),
      window,
      (cycle, capacity, hasBasis, chosen) => {
        const counted = countedQuarters(windowOf(chosen))
        const at = (number: number) => cycle[number % cycle.length]
        const peopleIn = (number: number): QuarterPeople | undefined => at(number)?.people ?? undefined
        const sums = noUse()
        const ofRoom = addUse(sums, counted, peopleIn, capacity)
        const use = { ...sums, ...useFigures(sums), ...ofRoom }

        const list = counted.map(({ quarter: number }) => peopleIn(number))
        const measured = list.filter((one) => one !== undefined)
        const used = measured.filter(({ hundredths }) => hundredths / 100 >= 0.2)
        const heads = used.filter(({ isPresence }) => !isPresence).map(({ hundredths }) => hundredths / 100)
        const allHeads = measured.filter(({ isPresence }) => !isPresence).map(({ hundredths }) => hundredths / 100)
        const runs = list.map((one) => (one === undefined || one.hundredths >= 20 ? ' ' : 'x')).join('')
        const isJudged = heads.length >= 100 && capacity !== undefined
        expect(use).toMatchObject({
          countedQuarters: list.length,
          measuredQuarters: measured.length,
          usedQuarters: used.length,
          peak: allHeads.length > 0 ? Math.max(...allHeads) : undefined,
          longestUnusedQuarters: Math.max(0, ...runs.split(' ').map((run) => run.length)),
          isTooSmall: isJudged && heads.filter((n) => n > capacity).length / heads.length >= 0.05,
          isTooLarge: isJudged && heads.filter((n) => n * 3 <= capacity).length / heads.length >= 0.95,
        })
        if (heads.length === 0) expect(use.meanWhenUsed).toBeUndefined()
        else {
          const mean = heads.reduce((a, b) => a + b, 0) / heads.length
          expect(use.meanWhenUsed).toBeCloseTo(mean, 9)
          if (capacity !== undefined) expect(use.seatUse).toBeCloseTo(mean / capacity, 9)
        }
        const monday9 = counted.filter((c) => {
          const local = new Date(localTime(chosen.zone, c.quarter * 900) * 1000)
          return local.getUTCDay() === 1 && local.getUTCHours() === 9 && peopleIn(c.quarter) !== undefined
        })
        expect(use.measuredByHour[9]).toBe(monday9.length)
        expect(use.usedByHour.reduce((sum, count) => sum + count, 0)).toBe(used.length)

        const isUsed = (number: number) => (peopleIn(number)?.hundredths ?? 0) >= 20
        const limit = { max: 1000 }
        const air = countAir(counted, (number) => at(number)?.air ?? undefined, limit, hasBasis ? isUsed : undefined)
        const values = counted.flatMap(({ quarter: number }) =>
          hasBasis && !isUsed(number) ? [] : (at(number)?.air ?? []),
        )
        expect([air.measured, air.outside]).toEqual([values.length, values.filter((value) => value > 1000).length])
      },
    ),
    generatedRuns({ short: 20, full: 300, long: 10_000 }),
  )
})

test('the worst day and hour are those with the largest share outside of the limits, and the earliest of equal ones', () => {
  const quarters = [0, 1, 2, 3, 4, 5].map((n) => ({ quarter: n, day: n >> 1, weekday: 0, hour: 8 + (n & 1) }))
  const air = countAir(quarters, (n) => [500, 1200, 1200, 1200, 1200, 1200][n], { max: 1000 }, undefined)
  expect(air).toEqual({ measured: 6, outside: 5, worstDay: 1, worstHour: 9 })
  expect(countAir(quarters, () => undefined, { max: 1000 }, undefined)).toEqual({ measured: 0, outside: 0 })
})

test('the example of docs/insight.md is counted as the document says, and its seconds add up', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/insight.md'), 'utf8')
  const at = (time: string) => Date.parse(`2026-10-26T${time}+01:00`) / 1000
  const period = (from: string, to: string): SecondsPeriod => [at(from), at(to)]
  const room: RoomPast = {
    devices: [
      {
        kind: 'CODEC',
        present: [period('00:00:00', '23:59:59')],
        connected: [
          period('00:00:00', '09:00:00'),
          period('09:04:00', '10:30:00'),
          period('10:33:00', '14:00:00'),
          period('14:20:00', '17:45:00'),
          period('18:30:00', '23:59:59'),
        ],
        service: [period('10:30:00', '10:33:00')],
        unknown: [],
        asleep: [],
        silenced: [],
      },
    ],
    silenced: [period('12:00:00', '13:00:00')],
    changeWindows: [],
    impaired: [period('14:20:00', '14:25:00')],
    known: period('00:00:00', '23:59:59'),
  }
  const counted = countedPeriods({
    ...{ from: at('00:00:00'), to: at('00:00:00') + 86_400 },
    hours: { from: 8 * 3600, to: 18 * 3600, days: ['mon'] },
    localTime: (seconds) => localTime('Europe/Oslo', seconds),
  })
  const found = countAvailability(room, { counted, ignoreUnderSeconds: 300, excluded: new Set(excludableClasses) })
  const rows = [...text.matchAll(/^\| `(\w+)` \| .* \| ([\d,]+) \|$/gm)].map(([, name, number = '']) => [
    name,
    Number(number.replace(',', '')),
  ])
  expect(Object.fromEntries(rows)).toEqual(found.seconds)
  expect(Object.values(found.seconds).reduce((a, b) => a + b)).toBe(36_000)
  expect(text).toContain(`${((found.availability ?? 0) * 100).toFixed(2)} %`)
  expect(found).toMatchObject({ impairedSeconds: 300, outages: 2, longestOutageSeconds: 1200 })
})

test('a room is too small only with more people than its capacity, and too large with at most a third of it, from 100 used quarters on', () => {
  const judge = (hundredths: number, count = 100) => {
    const quarters = Array.from({ length: count }, (_, quarter) => ({ quarter, day: 0, weekday: 0, hour: 9 }))
    const { isTooSmall, isTooLarge } = addUse(noUse(), quarters, () => ({ hundredths, isPresence: false }), 6)
    return [isTooSmall, isTooLarge]
  }
  expect([judge(600), judge(601), judge(601, 99)]).toEqual([
    [false, false],
    [true, false],
    [false, false],
  ])
  expect([judge(200), judge(201), judge(200, 99)]).toEqual([
    [false, true],
    [false, false],
    [false, false],
  ])
})
