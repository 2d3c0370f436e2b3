// Labels of a chart's time axis in a time zone: the time within a day, the date at midnight, and the month over years.
import { daySeconds } from '../../../contract/durations.ts'
import { wallClockMs } from '../text/zoned-time.ts'

// The digits of the zone's clock are formatted as if they were UTC.
const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZone: 'UTC',
})
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', timeZone: 'UTC' })
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

const monthOfYear = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' })
/** From this time between two labels on, days do not tell the years apart. */
const longStepSeconds = 100 * daySeconds

/** `times` are Unix seconds; `stepSeconds` is the time between two labels. */
export function timeLabels(times: readonly number[], stepSeconds: number, zone: string): string[] {
  const isLong = stepSeconds * times.length > 10 * daySeconds
  return times.map((time) => {
    const at = wallClockMs(time * 1000, zone)
    const isMidnight = at % (daySeconds * 1000) === 0
    if (!isMidnight) return clock.format(at)
    if (stepSeconds >= longStepSeconds) return monthOfYear.format(at)
    return (isLong ? date : weekday).format(at)
  })
}
