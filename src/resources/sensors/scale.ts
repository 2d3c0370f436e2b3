// How measured values become the integers that are stored.
import type { Sensor } from '../../contract/models.ts'

/** In tenths where one decimal counts. [contract 5.2.aggregate] */
export const scale: Readonly<Record<Sensor, number>> = {
  co2: 1,
  humidity: 10,
  illumination: 1,
  people: 1,
  temp: 10,
  voc: 1,
  vocIndex: 1,
}
