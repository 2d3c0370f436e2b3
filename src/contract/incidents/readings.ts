// The values that opened an incident, with their limits, and their texts for people. [contract 10.states]
import type { Sensor } from '../device/models.ts'
import { sensorLabels, sensorNumberText } from '../device/sensor-texts.ts'

/** `freeStorage` is in per cent of the storage. */
export const readingNames = ['co2', 'voc', 'temp', 'humidity', 'people', 'freeStorage'] as const
export type ReadingName = (typeof readingNames)[number]

export interface Reading {
  readonly name: ReadingName
  readonly value: number
  readonly unit: string
  /** The limits of the value, as far as it has any. */
  readonly min?: number
  readonly max?: number
}

const isSensor = (name: ReadingName): name is ReadingName & Sensor => name !== 'freeStorage'

export const readingLabel = (name: ReadingName): string => (isSensor(name) ? sensorLabels[name].name : 'Free storage')
export const readingUnit = (name: ReadingName): string => (isSensor(name) ? sensorLabels[name].unit : '%')

/** "1,743 ppm" */
export const readingValue = (name: ReadingName, value: number): string =>
  `${isSensor(name) ? sensorNumberText(name, value) : value.toLocaleString('en-GB')} ${readingUnit(name)}`.trimEnd()

/** "1,743 ppm (limit 1,000 ppm)": the limit is the one that the value is beyond. */
export function readingText({ name, value, min, max }: Reading): string {
  const limit = max !== undefined && value > max ? max : min
  const text = readingValue(name, value)
  if (limit === undefined) return text
  const limitText = `${limit.toLocaleString('en-GB')} ${readingUnit(name)}`.trimEnd()
  return `${text} (${name === 'people' ? 'capacity' : 'limit'} ${limitText})`
}
