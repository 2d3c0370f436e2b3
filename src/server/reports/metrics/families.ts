// The metrics of rooms and endpoints: the name and the help of each. docs/data-out.md lists them. [contract 16.metrics]
import type { Sensor } from '../../../contract/device/models.ts'
import type { SampleRow } from '../../sensors/ingest/store.ts'
import { columnOf } from '../../sensors/scale.ts'

/** All values are gauges. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
}

type Subject = 'room' | 'endpoint'

const family = (subject: Subject, name: string, help: string): MetricFamily => ({
  name: `roomkeeper_${subject}_${name}`,
  help,
})

/** The unit of a value, and by how much the stored integer is divided: Prometheus uses base units, such as ratios instead of per cent. */
const air = {
  co2: { name: 'co2_ppm', help: 'Carbon dioxide', divisor: 1 },
  humidity: { name: 'humidity_ratio', help: 'Relative humidity, from 0 to 1', divisor: 1000 },
  temp: { name: 'temperature_celsius', help: 'Temperature', divisor: 10 },
  illumination: { name: 'illuminance_lux', help: 'Illumination', divisor: 1 },
  voc: { name: 'voc_ppb', help: 'Volatile organic compounds', divisor: 1 },
  vocIndex: { name: 'voc_index', help: 'Index of volatile organic compounds', divisor: 1 },
} as const satisfies Partial<Record<Sensor, { name: string; help: string; divisor: number }>>

/** A value of samples, with its column. */
export interface AirFamily extends MetricFamily {
  readonly column: keyof SampleRow
  readonly divisor: number
}

const airFamilies = (subject: Subject): readonly AirFamily[] =>
  Object.entries(air).map(([sensor, { name, help, divisor }]) => ({
    ...family(subject, name, `${help}.`),
    column: columnOf[sensor as Sensor],
    divisor,
  }))

const sharedFamilies = (subject: Subject) => ({
  info: family(subject, 'info', 'Names and places; the value is 1.'),
  state: family(subject, 'state', 'The present state; 1 for the state that holds, 0 for the others.'),
  people: family(subject, 'people', 'People who were counted.'),
  occupied: family(subject, 'occupied', 'Whether there are people, counted or detected: 1 or 0.'),
  air: airFamilies(subject),
  sampleTimestamp: family(subject, 'sample_timestamp_seconds', 'Time of the latest sample.'),
  incidents: family(subject, 'incidents', 'Open incidents that still affect it, by severity.'),
})

export const roomFamilies = {
  ...sharedFamilies('room'),
  endpoints: family('room', 'endpoints', 'Endpoints in the room.'),
  connected: family('room', 'endpoints_connected', 'Endpoints in the room that are connected.'),
  capacity: family('room', 'capacity_people', 'People for whom the room is made.'),
}

export const endpointFamilies = {
  ...sharedFamilies('endpoint'),
  power: family('endpoint', 'power', 'Whether the device is on; 1 for the state that holds, 0 for the others.'),
  powerDraw: family('endpoint', 'power_watts', 'Electrical power that the device reports.'),
  certificate: family(
    'endpoint',
    'certificate_remaining_seconds',
    'Time until the certificate of the device ends, in whole days; negative after its end.',
  ),
}

export const metricFamilies: readonly MetricFamily[] = [roomFamilies, endpointFamilies].flatMap((families) =>
  Object.values(families).flat(),
)
