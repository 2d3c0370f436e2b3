// Decides which sensors a device has. This is the only place; sets of sensors are integers. [contract 5.1.models]
import { models, type Sensor, sensors } from '../../contract/device/models.ts'

/** An integer with a bit for each sensor. */
export type SensorSet = number

/** Databases store these bits. A new sensor gets the next bit. */
export const sensorBits: Readonly<Record<Sensor, SensorSet>> = {
  co2: 1,
  humidity: 2,
  illumination: 4,
  people: 8,
  temp: 16,
  voc: 32,
  vocIndex: 64,
}

export const sensorSetOf = (list: readonly Sensor[]): SensorSet =>
  list.reduce((set, sensor) => set | sensorBits[sensor], 0)

export const hasSensor = (set: SensorSet, sensor: Sensor): boolean => (set & sensorBits[sensor]) !== 0

const everySensor = sensorSetOf(sensors)
/** The names of each set, in the order of the contract. */
export const sensorLists: readonly (readonly Sensor[])[] = Array.from({ length: everySensor + 1 }, (_, set) =>
  sensors.filter((sensor) => hasSensor(set, sensor)),
)

export const sensorsIn = (set: SensorSet): readonly Sensor[] => sensorLists[set] as readonly Sensor[]

const setsOfModels: ReadonlyMap<string, SensorSet> = new Map(
  Object.entries(models).map(([code, model]) => [code, sensorSetOf(model.sensors)]),
)

/** The sensors of an endpoint, as its row has them. */
export interface StoredSensors {
  readonly model: string
  /** The list of its status; null without one. */
  readonly sensors_named: SensorSet | null
  /** The sensors of which the device has ever sent a number. */
  readonly sensors_measured: SensorSet
}

/** A model in the table has its own sensors. Any other device has those that it names; without a list, those that it has sent. */
export const sensorSetOfEndpoint = ({ model, sensors_named, sensors_measured }: StoredSensors): SensorSet =>
  setsOfModels.get(model) ?? sensors_named ?? sensors_measured

/** The sensors of a connected device, as far as the service knows them. Its messages change them. */
export interface DeviceSensors {
  named: SensorSet | null
  measured: SensorSet
  /** `people` of its samples is presence: 1 or 0. */
  isPresenceOnly: boolean
}

/** The sensors whose values are stored. A device that names none shows by its values which it has. */
export const acceptedSensors = (model: string, { named }: DeviceSensors): SensorSet =>
  setsOfModels.get(model) ?? named ?? everySensor

/** Returns the sensors in `sent` that have to be stored as measured. For the models in the table there are none, and `sent` is not called. */
export const newlyMeasured = (model: string, { measured }: DeviceSensors, sent: () => SensorSet): SensorSet =>
  setsOfModels.has(model) ? 0 : sent() & ~measured

interface ReportedSensors {
  readonly sensors?: unknown
  readonly peopleIs?: unknown
}

/** The columns of a whole status. */
export const sensorColumnsOf = ({ sensors: named, peopleIs }: ReportedSensors) => ({
  sensors_named: Array.isArray(named) ? sensorSetOf(named) : null,
  presence_only: peopleIs === 'PRESENCE' ? 1 : 0,
})

/** Applies what a status report says about sensors, for the samples that come after it. */
export function noteReportedSensors(known: DeviceSensors, report: ReportedSensors): void {
  const { sensors_named, presence_only } = sensorColumnsOf(report)
  if (report.sensors !== undefined) known.named = sensors_named
  if (report.peopleIs !== undefined) known.isPresenceOnly = presence_only === 1
}
