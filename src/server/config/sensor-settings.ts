// The settings for sensor data and for how long the past is kept, converted from the command line's units.

import { daySeconds, minuteMs, minuteSeconds } from '../../contract/durations.ts'
import type { Clock } from '../core/clock.ts'
import { StartupError } from '../core/failure.ts'
import { retentionDefaults } from './options.ts'
import type { RetentionOptions } from './server-options.ts'

/** Settings for sensor data, and for reports about it. */
export interface SensorSettings {
  /** Raw samples are stored this long; older ones are refused. */
  readonly sampleRetentionSeconds: number
  /** Rollups over 15 minutes and an hour are stored this long. */
  readonly rollupRetentionSeconds: number
  /** Daily rollups are stored this long; Infinity means for ever. */
  readonly dailyRetentionSeconds: number
  /** Incidents are stored this long after their last change. */
  readonly incidentRetentionSeconds: number
  /** The latest sample of an endpoint counts for its room this long. [contract 5.2.aggregate] */
  readonly freshnessSeconds: number
  /** A room that has not been busy for this long is idle. [contract 12.idle] */
  readonly idleMs: number
}

/** Each resolution must be retained at least as long as the finer one before it, so that history has no gaps. */
export function sensorSettingsOf(options: RetentionOptions): SensorSettings {
  const { sampleRetentionDays, rollupRetentionDays, dailyRetentionDays } = options
  if (rollupRetentionDays < sampleRetentionDays) {
    throw new StartupError(
      `--rollup-retention (${rollupRetentionDays} days) must not be smaller than --sample-retention (${sampleRetentionDays} days). Raise the first or lower the second.`,
    )
  }
  const daily = dailyRetentionDays === 'ever' ? Number.POSITIVE_INFINITY : dailyRetentionDays
  if (daily < rollupRetentionDays) {
    throw new StartupError(
      `--daily-retention (${daily} days) must not be smaller than --rollup-retention (${rollupRetentionDays} days). Raise the first, set it to ever, or lower the second.`,
    )
  }
  return {
    sampleRetentionSeconds: sampleRetentionDays * daySeconds,
    rollupRetentionSeconds: rollupRetentionDays * daySeconds,
    dailyRetentionSeconds: daily * daySeconds,
    incidentRetentionSeconds: options.incidentRetentionDays * daySeconds,
    freshnessSeconds: options.roomFreshnessMinutes * minuteSeconds,
    idleMs: options.idleMinutes * minuteMs,
  }
}

/** The oldest timestamp that still counts for a room, in Unix seconds. [contract 5.2.aggregate] */
export const freshSince = ({ clock, settings }: { readonly clock: Clock; readonly settings: SensorSettings }): number =>
  Math.ceil(clock.now() / 1000 - settings.freshnessSeconds)

export const defaultSensorSettings: SensorSettings = sensorSettingsOf(retentionDefaults)
