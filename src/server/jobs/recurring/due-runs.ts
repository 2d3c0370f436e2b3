// Decides without a database which runs of a recurring job are due, and which of them are too late. [contract 12.recurring]
import { minuteMs } from '../../../contract/durations.ts'
import { lateRunMinutes } from '../../../contract/jobs/recurring-jobs.ts'
import { type WeeklyTime, weeklyTimesBetween } from '../../core/time/weekly-times.ts'

export interface DueRun {
  readonly at: number
  readonly timezone: string
  readonly isLate: boolean
}

/** A service that was stopped for longer records the runs of the last days only. */
const longestStopMs = 14 * 24 * 60 * minuteMs

/** The runs after `handledUntil` and up to now, the earliest first. */
export function dueRuns(
  schedule: WeeklyTime,
  zones: readonly string[],
  handledUntil: number,
  now: number,
): readonly DueRun[] {
  const from = Math.max(handledUntil, now - longestStopMs)
  return zones
    .flatMap((timezone) =>
      weeklyTimesBetween(schedule, timezone, from, now).map((at) => ({
        ...{ at, timezone },
        isLate: now - at > lateRunMinutes * minuteMs,
      })),
    )
    .sort((a, b) => a.at - b.at)
}
