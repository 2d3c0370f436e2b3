// Sensor history worked out the plain way from a list of samples: what the service must answer, however it stores them.
import { type Sensor, sensors } from '../../src/contract/device/models.ts'
import type { Interval } from '../../src/contract/sensors/sensor-history.ts'

export interface PlainSample {
  readonly endpointId: string
  /** The room that it was in. */
  readonly room: number
  readonly timestamp: number
  readonly values: Partial<Record<Sensor, number>>
}

export interface Question {
  readonly interval: Interval
  readonly fields: readonly Sensor[]
  readonly zone: string
  /** Unix seconds. */
  readonly from: number
  readonly to: number
}

/** The expected `buckets` or `samples` of an answer, all pages together. */
export function plainHistory(all: readonly PlainSample[], question: Question, ofRoom: boolean): object[] {
  const { interval, fields } = question
  const samples = all
    .filter(({ values }) => fields.some((field) => values[field] !== undefined))
    .toSorted((a, b) => a.timestamp - b.timestamp)
  if (interval === 'raw') {
    return samples
      .filter(({ timestamp }) => timestamp >= question.from && timestamp < question.to)
      .map(({ timestamp, endpointId, values }) => ({
        timestamp: String(timestamp),
        ...(ofRoom && { endpointId }),
        ...Object.fromEntries(fields.filter((f) => values[f] !== undefined).map((f) => [f, values[f]])),
      }))
  }
  const byBucket = Map.groupBy(samples, ({ timestamp }) => nameOf(interval, question.zone, timestamp))
  return [...byBucket].flatMap(([name, inside]) => {
    const [start, end] = bounds(interval, question.zone, (inside[0] as PlainSample).timestamp)
    if (question.from >= question.to || start >= question.to || end <= question.from) return []
    const statistics = sensors
      .filter((sensor) => fields.includes(sensor))
      .map((sensor) => [sensor, statisticsOf(inside.flatMap(({ values }) => values[sensor] ?? []))] as const)
      .filter(([, s]) => s !== undefined)
    const day = interval === '1d' ? { day: name } : {}
    return [{ start: new Date(start * 1000).toISOString(), ...day, ...Object.fromEntries(statistics) }]
  })
}

/** The mean is exact until it is rounded: whole numbers of hundredths. */
function statisticsOf(values: readonly number[]) {
  if (values.length === 0) return undefined
  const sum = values.reduce((total, value) => total + BigInt(Math.round(value * 100)), 0n)
  const twice = BigInt(2 * values.length)
  const doubled = 2n * sum + BigInt(values.length)
  const floor = doubled / twice - (doubled < 0n && doubled % twice !== 0n ? 1n : 0n)
  return { min: Math.min(...values), max: Math.max(...values), mean: Number(floor) / 100, count: values.length }
}

const lengths = { '5m': 300, '15m': 900, '1h': 3600 } as const

const dates = new Map<string, Intl.DateTimeFormat>()
/** The local date, from Intl. */
function dateIn(zone: string, timestamp: number): string {
  let format = dates.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
    dates.set(zone, format)
  }
  return format.format(timestamp * 1000)
}

function nameOf(interval: Exclude<Interval, 'raw'>, zone: string, timestamp: number): string {
  return interval === '1d' ? dateIn(zone, timestamp) : String(Math.floor(timestamp / lengths[interval]))
}

/** The start of a day is searched in steps of 15 minutes. */
function bounds(interval: Exclude<Interval, 'raw'>, zone: string, timestamp: number): [number, number] {
  if (interval !== '1d') {
    const start = timestamp - (timestamp % lengths[interval])
    return [start, start + lengths[interval]]
  }
  const day = dateIn(zone, timestamp)
  let start = timestamp - (timestamp % 900)
  let end = start + 900
  while (dateIn(zone, start - 900) === day) start -= 900
  while (dateIn(zone, end) === day) end += 900
  return [start, end]
}
