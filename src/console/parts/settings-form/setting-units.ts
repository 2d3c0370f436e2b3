// The units in which numbers of settings are entered and shown; the service has its own. Brightness is shown in per cent, and times in minutes or seconds.
import type { ConfigKey } from '../../../contract/device/config-keys.ts'

export interface SettingUnit {
  readonly symbol: string
  readonly name: string
  /** The number in the unit, from the number that the service has. */
  readonly fromStored: (stored: number) => number
  readonly toStored: (shown: number) => number
  readonly step: number
  /** How many decimals can be entered. A time with three is a whole number of milliseconds in both units. */
  readonly decimals: number
}

const rounded = (value: number, decimals: number) => Number(value.toFixed(decimals))

const duration = (symbol: string, name: string, ms: number, step: number): SettingUnit => ({
  symbol,
  name,
  fromStored: (stored) => rounded(stored / ms, 3),
  toStored: (shown) => Math.round(shown * ms),
  step,
  decimals: 3,
})

export const minutes = duration('min', 'minutes', 60_000, 1)
export const seconds = duration('s', 'seconds', 1000, 10)

const percent: SettingUnit = {
  symbol: '%',
  name: 'per cent',
  fromStored: (stored) => rounded(stored * 100, 6),
  toStored: (shown) => rounded(shown / 100, 6),
  step: 5,
  decimals: 2,
}

export const isDuration = ({ unit }: ConfigKey): boolean => unit === 'ms'

/** A share between 0 and 1 is shown in per cent. */
const isShare = ({ type, min, max }: ConfigKey): boolean => type === 'number' && min === 0 && max === 1

/** The unit in which a stored number is shown; undefined if it is shown as it is. */
export function unitOf(key: ConfigKey, stored: unknown): SettingUnit | undefined {
  if (isShare(key)) return percent
  if (!isDuration(key)) return undefined
  return typeof stored === 'number' && stored % 60_000 !== 0 ? seconds : minutes
}

/** "40 %", "10 min", "90 s", or the number with the unit of its key. */
export function numberText(key: ConfigKey, stored: number): string {
  const unit = unitOf(key, stored)
  if (!unit) return [stored, key.unit].filter((part) => part !== undefined).join(' ')
  return `${unit.fromStored(stored).toLocaleString('en-GB', { maximumFractionDigits: 6 })} ${unit.symbol}`
}

/** A limit as the field shows it. A time is said in both units, because the user chooses one. */
export function limitInUnit(key: ConfigKey, stored: number): string {
  if (!isDuration(key)) return numberText(key, stored)
  const inUnit = (unit: SettingUnit) => `${Math.trunc(unit.fromStored(stored)).toLocaleString('en-GB')} ${unit.name}`
  return `${inUnit(minutes)} (${inUnit(seconds)})`
}
