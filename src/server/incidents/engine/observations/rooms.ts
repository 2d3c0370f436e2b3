// Observes whether the air of rooms is outside the limits, and whether they are crowded. [contract 10.rule]
import { secondMs } from '../../../../contract/durations.ts'
import type { AirLimits } from '../../../../contract/journal/orgs.ts'
import type { SensorSettings } from '../../../config/sensor-settings.ts'
import { aggregate } from '../../../sensors/latest/aggregate.ts'
import { conditionOf, type Finding, type FindingDetail, type Observation } from '../types.ts'
import type { ObservedWithSample } from './endpoint-store.ts'

type Sample = NonNullable<ReturnType<typeof aggregate>>
type AirSensor = keyof AirLimits

/** Temperature and humidity are stored in tenths. */
const unitsPerValue: Readonly<Record<AirSensor, number>> = { co2: 1, voc: 1, temp: 10, humidity: 10 }
const airSensors = Object.keys(unitsPerValue) as readonly AirSensor[]

/** Collects the samples of rooms while the endpoints are read in pages. A stale sample, or one of a device that is away, does not count. */
export class RoomSamples {
  readonly #rows = new Map<number, Sample[]>()
  readonly #oldest: number

  constructor(now: number, { freshnessSeconds }: Pick<SensorSettings, 'freshnessSeconds'>) {
    this.#oldest = Math.floor(now / secondMs) - freshnessSeconds
  }

  add({ room_id, connected, timestamp, co2, voc, temp, humidity, people }: ObservedWithSample): void {
    if (room_id === null || !connected || timestamp === null || timestamp < this.#oldest) return
    const values = { timestamp, co2, voc, temp, humidity, people }
    const row = { ...values, illumination: null, voc_index: null, shutter_closed: null }
    const rows = this.#rows.get(room_id)
    if (rows) rows.push(row)
    else this.#rows.set(room_id, [row])
  }

  *aggregates(): Iterable<{ readonly roomId: number; readonly sample: Sample }> {
    for (const [roomId, rows] of this.#rows) {
      const sample = aggregate(rows)
      if (sample) yield { roomId, sample }
    }
  }
}

interface AirRule {
  readonly limits: AirLimits
  readonly marginPercent: number
}

/** `before` is the finding of the room: its sensors must be known to be inside again before it ends. */
export function observeAir(
  roomId: number,
  sample: Sample,
  { limits, marginPercent }: AirRule,
  before: Finding | undefined,
): Observation | undefined {
  const states = new Map<string, Observation['state']>()
  const readings: NonNullable<FindingDetail['readings']>[number][] = []
  for (const sensor of airSensors) {
    const stored = sample[sensor]
    // A device reports 0 for a sensor that it does not have.
    if (!stored) continue
    const value = stored / unitsPerValue[sensor]
    const state = airState(value, limits[sensor], marginPercent / 100)
    states.set(sensor, state)
    if (state === 'holds') readings.push({ name: sensor, value, ...limits[sensor] })
  }
  const condition = conditionOf('air.beyond', roomId)
  const sensors = readings.map(({ name }) => name)
  if (sensors.length > 0) return { ...condition, state: 'holds', detail: { sensors, readings } }
  if (states.size === 0 || before?.detail.sensors?.some((sensor) => !states.has(sensor))) return undefined
  return { ...condition, state: [...states.values()].includes('between') ? 'between' : 'clear' }
}

function airState(value: number, { min, max }: AirLimits[AirSensor], margin: number): Observation['state'] {
  if ((max !== undefined && value > max) || (min !== undefined && value < min)) return 'holds'
  const isNear =
    (max !== undefined && value > max - margin * Math.abs(max)) ||
    (min !== undefined && value < min + margin * Math.abs(min))
  return isNear ? 'between' : 'clear'
}

/** A room whose capacity was removed is no longer crowded. */
export function observeCrowd(
  roomId: number,
  { people }: Sample,
  capacity: number | undefined,
): Observation | undefined {
  if (people === null) return undefined
  const condition = conditionOf('room.crowded', roomId)
  if (capacity === undefined || people <= capacity) return { ...condition, state: 'clear' }
  return { ...condition, state: 'holds', detail: { people, capacity } }
}
