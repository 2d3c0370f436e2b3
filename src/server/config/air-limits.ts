// Parses the option --air-limits, such as `co2=..800,temp=19..25,voc=off`: values outside the limits are outliers.
import { type AirLimit, type AirLimits, defaultAirLimits } from '../../contract/journal/orgs.ts'
import { StartupError } from '../core/failure.ts'

const sensors = Object.keys(defaultAirLimits) as (keyof AirLimits)[]
const range = /^(-?\d+(?:\.\d+)?)?\.\.(-?\d+(?:\.\d+)?)?$/

/** Sensors that the text does not name have the default limits. */
export function parseAirLimits(text: string): AirLimits {
  const limits = { ...defaultAirLimits }
  const named = new Set<string>()
  for (const item of text.split(',')) {
    const [, name = '', value = ''] = /^\s*(\w+)\s*=\s*(\S+)\s*$/.exec(item) ?? []
    const sensor = sensors.find((known) => known === name)
    if (!sensor) throw airLimitsError(`"${item.trim()}" names none of ${sensors.join(', ')}`)
    if (named.has(sensor)) throw airLimitsError(`${sensor} is there twice`)
    named.add(sensor)
    limits[sensor] = limitsOf(sensor, value)
  }
  return limits
}

/** Formats limits as text that parseAirLimits reads. */
export const airLimitsText = (limits: AirLimits): string =>
  sensors.map((sensor) => `${sensor}=${rangeText(limits[sensor])}`).join()

const rangeText = ({ min, max }: AirLimit): string =>
  min === undefined && max === undefined ? 'off' : `${min ?? ''}..${max ?? ''}`

function limitsOf(sensor: string, value: string): AirLimit {
  if (value === 'off') return {}
  const [, low, high] = range.exec(value) ?? []
  if (low === undefined && high === undefined) throw airLimitsError(`"${value}" of ${sensor} is not a range`)
  const min = low === undefined ? undefined : Number(low)
  const max = high === undefined ? undefined : Number(high)
  if (min !== undefined && max !== undefined && min >= max) {
    throw airLimitsError(`the range ${value} of ${sensor} ends before it begins`)
  }
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
}

const airLimitsError = (why: string): StartupError =>
  new StartupError(
    `--air-limits must be ranges such as co2=..1000,temp=18..27, or off for no limit, separated by commas: ${why}.`,
  )
