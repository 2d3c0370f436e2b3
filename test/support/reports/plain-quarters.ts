// Use and air of rooms worked out the plain way from a list of samples, apart from the code of the service.
import { PlainClock, weekdayOf } from './plain-clock.ts'

export interface RoomSample {
  readonly room: number
  readonly device: number
  readonly isPresence: boolean
  readonly timestamp: number
  readonly values: Readonly<Record<string, number>>
}

/** A question for a report: days as texts, hours in quarters of a day, and the days that count as their names. */
export interface PlainQuestion {
  readonly zone: string
  readonly from: string
  readonly to: string
  readonly hours: readonly [from: number, to: number] | undefined
  readonly days: readonly string[]
}

interface PlainQuarter {
  readonly quarter: number
  readonly date: string
  /** From Monday on. */
  readonly weekday: number
  readonly hour: number
}

const names = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
const dayMs = 86_400_000

export function plainQuarters({ zone, from, to, hours, days }: PlainQuestion): PlainQuarter[] {
  const [start, end] = [Date.parse(from) - 2 * dayMs, Date.parse(to) + 2 * dayMs]
  const clock = new PlainClock(zone, start / 1000, end / 1000)
  const found: PlainQuarter[] = []
  for (let quarter = start / 900_000; quarter < end / 900_000; quarter++) {
    const shown = clock.at(quarter * 900)
    const [day, quarterOfDay] = [Math.floor(shown / 1440), Math.floor((shown % 1440) / 15)]
    const date = new Date(day * dayMs).toISOString().slice(0, 10)
    if (date < from || date >= to) continue
    const isOn = (daysAgo: number) => {
      const at = quarterOfDay + 96 * daysAgo
      return hours && at >= hours[0] && at < hours[1] && days.includes(weekdayOf(day - daysAgo))
    }
    if (hours && !isOn(0) && !isOn(1)) continue
    found.push({ quarter, date, weekday: names.indexOf(weekdayOf(day)), hour: Math.floor(quarterOfDay / 4) })
  }
  return found
}

const mean = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0) / numbers.length
/** A share that is absent if there is nothing to divide by. */
const optional = (name: string, part: number, whole: number, digits = 4) =>
  whole === 0 ? {} : { [name]: Number((part / whole).toFixed(digits)) }

/** The means of the devices that measured something in a quarter, in steps of the sensor and in the order of their numbers. */
function meansIn(samples: readonly RoomSample[], sensor: string, step = 1) {
  const measured = samples.filter(({ values }) => values[sensor] !== undefined)
  return [...Map.groupBy(measured, ({ device }) => device)]
    .sort(([a], [b]) => a - b)
    .map(([, list]) => ({
      isPresence: list[0]?.isPresence === true,
      mean: mean(list.map((s) => Math.round(Number(s.values[sensor]) / step))),
    }))
}

/** Samples of a room by quarter. */
export const byQuarter = (samples: readonly RoomSample[]): Map<number, RoomSample[]> =>
  Map.groupBy(samples, ({ timestamp }) => Math.floor(timestamp / 900))

function peopleIn(samples: readonly RoomSample[] | undefined) {
  const means = meansIn(samples ?? [], 'people').map((one) => ({ ...one, people: Math.round(one.mean * 100) / 100 }))
  if (means.length === 0) return undefined
  const people = Math.max(...means.map((one) => one.people))
  return { people, isPresence: means.every((one) => one.people < people || one.isPresence) }
}

/** The figures of a row of reportsUse of one room. */
export function plainUse(
  room: Map<number, RoomSample[]>,
  quarters: readonly PlainQuarter[],
  capacity: number | undefined,
) {
  const list = quarters.map((at) => ({ ...at, ...peopleIn(room.get(at.quarter)) }))
  const measured = list.flatMap((at) => (at.people === undefined ? [] : [{ ...at, people: at.people }]))
  const used = measured.filter(({ people }) => people >= 0.2)
  const heads = measured.filter(({ isPresence }) => !isPresence).map(({ people }) => people)
  const usedHeads = heads.filter((people) => people >= 0.2)
  const runs = list.map(({ people }) => (people !== undefined && people < 0.2 ? 'x' : ' ')).join('')
  const isJudged = capacity !== undefined && usedHeads.length >= 100
  const week = (some: readonly PlainQuarter[]) =>
    Array.from({ length: 168 }, (_, i) => some.filter(({ weekday, hour }) => weekday * 24 + hour === i).length)
  return {
    countedQuarters: list.length,
    measuredQuarters: measured.length,
    usedQuarters: used.length,
    ...optional('coverage', measured.length, list.length),
    ...optional('use', used.length, measured.length),
    ...(heads.length > 0 && { peak: Math.max(...heads) }),
    ...optional(
      'meanWhenUsed',
      usedHeads.reduce((a, b) => a + Math.round(b * 100), 0),
      usedHeads.length * 100,
      2,
    ),
    ...(capacity !== undefined &&
      optional(
        'seatUse',
        usedHeads.reduce((a, b) => a + Math.round(b * 100), 0),
        usedHeads.length * capacity * 100,
      )),
    ...(capacity !== undefined &&
      usedHeads.length > 0 && {
        personQuarters: usedHeads.reduce((a, b) => a + Math.round(b * 100), 0) / 100,
        seatQuarters: usedHeads.length * capacity,
      }),
    ...(measured.length > 0 && { longestUnusedQuarters: Math.max(...runs.split(' ').map((run) => run.length)) }),
    ...(isJudged && usedHeads.filter((n) => n > capacity).length / usedHeads.length >= 0.05 && { tooSmall: true }),
    ...(isJudged && usedHeads.filter((n) => n * 3 <= capacity).length / usedHeads.length >= 0.95 && { tooLarge: true }),
    week: { measured: week(measured), used: week(used) },
  }
}

/** The limits of a sensor in the unit of samples, and what the service rounds a value of a quarter to. */
export interface PlainLimit {
  readonly min?: number
  readonly max?: number
  readonly step: number
}

/** The figures of a row of reportsAir of one room. */
export function plainAir(
  room: Map<number, RoomSample[]>,
  quarters: readonly PlainQuarter[],
  limits: Readonly<Record<string, PlainLimit>>,
) {
  const all = quarters.map((at) => ({ ...at, samples: room.get(at.quarter) ?? [] }))
  const isUsedBasis = all.some(({ samples }) => peopleIn(samples))
  const counted = all.filter(({ samples }) => !isUsedBasis || (peopleIn(samples)?.people ?? 0) >= 0.2)
  const readings = counted.flatMap(({ samples, date, hour }) => {
    const outside: Record<string, boolean> = {}
    for (const [name, { min = -1e9, max = 1e9, step }] of Object.entries(limits)) {
      const means = meansIn(samples, name, step).map((one) => one.mean)
      if (means.length === 0) continue
      const value = Math.round(mean(means)) * step
      outside[name] = value < min - step / 100 || value > max + step / 100
    }
    return Object.keys(outside).length > 0 ? [{ date, hour, outside }] : []
  })
  const isOut = ({ outside }: (typeof readings)[number]) => Object.values(outside).includes(true)
  const figures = (measured: number, out: number) => ({
    ...{ measuredQuarters: measured, outsideQuarters: out },
    ...optional('outsideShare', out, measured),
  })
  const worst = <K>(keyOf: (reading: (typeof readings)[number]) => K) =>
    [...Map.groupBy(readings, keyOf)]
      .map(([key, some]) => ({ key, share: some.filter(isOut).length / some.length }))
      .toSorted((a, b) => b.share - a.share || (a.key < b.key ? -1 : 1))[0]?.key
  const outCount = readings.filter(isOut).length
  return {
    countedQuarters: all.length,
    basis: isUsedBasis ? 'used' : 'measured',
    ...figures(readings.length, outCount),
    ...(outCount > 0 && { worstDay: worst(({ date }) => date), worstHour: worst(({ hour }) => hour) }),
    ...Object.fromEntries(
      Object.keys(limits).map((name) => {
        const some = readings.filter(({ outside }) => outside[name] !== undefined)
        return [name, figures(some.length, some.filter(({ outside }) => outside[name]).length)]
      }),
    ),
  }
}
