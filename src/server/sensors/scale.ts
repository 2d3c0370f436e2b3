// Maps sensors to their column and to the factor with which values are stored as integers.
import type { Sensor } from '../../contract/device/models.ts'
import type { SensorColumn } from '../db/schema/schema.ts'

export const columnOf: Readonly<Record<Sensor, SensorColumn>> = {
  co2: 'co2',
  humidity: 'humidity',
  illumination: 'illumination',
  people: 'people',
  temp: 'temp',
  voc: 'voc',
  vocIndex: 'voc_index',
}

/** Values with one decimal are stored in tenths. [contract 5.2.aggregate] */
export const scale: Readonly<Record<Sensor, number>> = {
  co2: 1,
  humidity: 10,
  illumination: 1,
  people: 1,
  temp: 10,
  voc: 1,
  vocIndex: 1,
}
