// The settings for sensor data, converted from the command line's units to seconds.
import { type AirLimits, defaultAirLimits } from '../../contract/session.ts'
import { daySeconds, minuteSeconds } from '../core/durations.ts'
import { StartupError } from '../core/failure.ts'
import { type RetentionOptions, retentionDefaults } from './options.ts'

/** What is configured for sensor data. Times are in seconds. */
export interface SensorSettings {
  /** How long a raw sample is kept; an older one is refused. */
  readonly samplesKept: number
  /** How long 15-minute and hourly rollups are kept. */
  readonly quartersKept: number
  /** How long daily rollups are kept; Infinity is for ever. */
  readonly daysKept: number
  /** How long the latest sample of an endpoint counts for its room. [contract 5.2.aggregate] */
  readonly freshness: number
  /** Outside of these the air of a room is an outlier. */
  readonly airLimits: AirLimits
}

/** Each resolution must be retained at least as long as the finer one before it, so that history has no gaps. */
export function sensorSettingsOf(options: RetentionOptions): SensorSettings {
  const { sampleRetention, rollupRetention, dailyRetention, roomFreshness, airLimits = defaultAirLimits } = options
  if (rollupRetention < sampleRetention) {
    throw new StartupError(
      `--rollup-retention (${rollupRetention} days) must not be smaller than --sample-retention (${sampleRetention} days). Raise the first or lower the second.`,
    )
  }
  const daily = dailyRetention === 'ever' ? Number.POSITIVE_INFINITY : dailyRetention
  if (daily < rollupRetention) {
    throw new StartupError(
      `--daily-retention (${daily} days) must not be smaller than --rollup-retention (${rollupRetention} days). Raise the first, set it to ever, or lower the second.`,
    )
  }
  return {
    samplesKept: sampleRetention * daySeconds,
    quartersKept: rollupRetention * daySeconds,
    daysKept: daily * daySeconds,
    freshness: roomFreshness * minuteSeconds,
    airLimits,
  }
}

export const defaultSensorSettings: SensorSettings = sensorSettingsOf(retentionDefaults)
