// Units by name: only conversions that are exact. A unit that is not in these tables is refused.
import type { MappedValue } from '../contract/fleet/sources.ts'

type Convert = (value: number) => number
const same: Convert = (value) => value
const times =
  (factor: number): Convert =>
  (value) =>
    value * factor

/** Division keeps 1,013 ppb at 1.013 ppm, which a factor of 0.001 would not. */
const by =
  (divisor: number): Convert =>
  (value) =>
    value / divisor

/**
 * The first unit of each sensor is the one that values are stored in. Mass concentrations (mg/m³, µg/m³) of carbon dioxide and of organic
 * compounds are missing: to convert them one needs the temperature, the pressure and the compounds.
 */
const units: Readonly<Record<MappedValue, Readonly<Record<string, Convert>>>> = {
  co2: { ppm: same, ppb: by(1000), '%': times(10_000) },
  humidity: { '%': same, '%rH': same },
  illumination: { lx: same, lux: same, klx: times(1000) },
  people: { people: same, persons: same, person: same, count: same },
  presence: {},
  temp: { '°C': same, C: same, '°F': (f) => ((f - 32) * 5) / 9, F: (f) => ((f - 32) * 5) / 9, K: (k) => k - 273.15 },
  voc: { ppb: same, ppm: times(1000) },
  vocIndex: { index: same },
}

/** The units that a form offers for a sensor; the first one is the sensor's own. Empty if the value has no unit. */
export const unitNamesOf = (sensor: MappedValue): readonly string[] => Object.keys(units[sensor])

/** How a value in this unit becomes one in the sensor's own unit; undefined if the unit is unknown. */
export function converterOf(sensor: MappedValue, unit: string | undefined): Convert | undefined {
  const wanted = plainUnit(unit ?? '')
  if (wanted === '') return same
  return Object.entries(units[sensor]).find(([name]) => plainUnit(name) === wanted)?.[1]
}

/** One spelling of each unit: ℃ is °C, µ has two codes, and case does not matter. */
const plainUnit = (unit: string): string =>
  unit.replaceAll('º', '°').normalize('NFKC').replaceAll(/\s/g, '').toLowerCase()

/** Rounding takes away what the arithmetic of binary numbers added: 70.5 °F are 21.38888889 °C. */
export const withoutNoise = (value: number): number => Number(value.toFixed(6))
