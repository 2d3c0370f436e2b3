// Labels of a chart's time axis in the viewer's time zone: the time within a day, the date at midnight.
import { daySeconds } from '../../../contract/durations.ts'

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric' })
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

/** `times` are Unix seconds; `stepSeconds` is the time between two labels. */
export function timeLabels(times: readonly number[], stepSeconds: number): string[] {
  const isLong = stepSeconds * times.length > 10 * daySeconds
  return times.map((time) => {
    const at = new Date(time * 1000)
    const isMidnight = at.getHours() === 0 && at.getMinutes() === 0
    if (!isMidnight) return clock.format(at)
    return (isLong ? date : weekday).format(at)
  })
}
