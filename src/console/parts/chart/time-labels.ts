// The words below a chart: the clock within a day, the date where a day begins, in the viewer's zone.
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric' })
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const daySeconds = 86_400

/** `step` is the time between two marks; all of it is Unix seconds. */
export function timeLabels(times: readonly number[], step: number): string[] {
  const isLong = step * times.length > 10 * daySeconds
  return times.map((time) => {
    const at = new Date(time * 1000)
    const isMidnight = at.getHours() === 0 && at.getMinutes() === 0
    if (!isMidnight) return clock.format(at)
    return (isLong ? date : weekday).format(at)
  })
}
