// A quantity of a sensor: the text or number of a message becomes a value in the sensor's unit and physical range, or a reason why not.
import { sensorRanges } from '../contract/device/models.ts'
import type { MappedValue } from '../contract/fleet/sources.ts'
import { numberOf, renderedText, shownText } from './template.ts'
import { converterOf, unitNamesOf, withoutNoise } from './units.ts'

export type Quantity =
  | { readonly kind: 'value'; readonly value: number }
  /** The publisher itself says that it has no value now. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly because: string }

/** Texts with which Home Assistant's publishers say that a value is not known. */
const unknownTexts = new Set(['', 'unavailable', 'unknown', 'none', 'null', 'nan'])

export function quantityOf(sensor: MappedValue, raw: string | number | boolean, unit?: string): Quantity {
  if (typeof raw === 'string' && unknownTexts.has(raw.trim().toLowerCase())) return { kind: 'absent' }
  if (sensor === 'presence') return presenceOf(raw)
  const convert = converterOf(sensor, unit)
  if (!convert) return refused(unknownUnit(sensor, unit ?? ''))
  const number = numberOf(raw)
  if (number === undefined) return refused(`Not a number: ${shownText(String(raw), 60)}`)
  const value = withoutNoise(convert(number))
  const { min, max, unit: ownUnit } = sensorRanges[sensor]
  if (value < min || value > max) return refused(`${value} ${ownUnit} is outside the range from ${min} to ${max}.`)
  if (sensor === 'people' && !Number.isInteger(value)) return refused(`${value} is not a whole number of people.`)
  return { kind: 'value', value }
}

export function unknownUnit(sensor: MappedValue, unit: string): string {
  const known = unitNamesOf(sensor).join(', ')
  const text = shownText(unit, 20)
  return known === '' ? `The unit ${text} is not known.` : `The unit ${text} is not known. Known units: ${known}.`
}

const presentTexts = new Set(['true', 'on', '1', 'yes', 'occupied', 'detected', 'present', 'home'])
const absentTexts = new Set(['false', 'off', '0', 'no', 'vacant', 'clear', 'absent', 'not_home', 'unoccupied'])

/** A number counts as presence if it is above 0. */
function presenceOf(raw: string | number | boolean): Quantity {
  const text = renderedText(raw).trim().toLowerCase()
  if (presentTexts.has(text)) return { kind: 'value', value: 1 }
  if (absentTexts.has(text)) return { kind: 'value', value: 0 }
  const number = numberOf(raw)
  if (number === undefined || number < 0) return refused(`Not a presence: ${shownText(String(raw), 60)}`)
  return { kind: 'value', value: number > 0 ? 1 : 0 }
}

const refused = (because: string): Quantity => ({ kind: 'refused', because })
