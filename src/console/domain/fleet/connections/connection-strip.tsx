// The strip of one device: its parts, with marks above them, and the days or hours below.
import { dayMs, hourMs } from '../../../../contract/durations.ts'
import { zonedClock, zonedTime, zonedWeekday } from '../../../parts/text/time.tsx'
import { zonedDays } from '../../../parts/text/zoned-time.ts'
import classes from './connections.module.css'
import { partText } from './part-text.ts'
import type { StripPart } from './strip.ts'
import type { StripMark } from './strip-marks.ts'

export interface DeviceConnectionStrips {
  readonly id: string
  readonly name: string
  readonly text: string
  readonly parts: readonly StripPart[]
  readonly marks: readonly StripMark[]
}

interface WindowProps {
  readonly fromMs: number
  readonly toMs: number
  readonly zone: string
}

const percent = (part: number, whole: number) => `${(part / whole) * 100}%`

/** Screen readers get the sentence; the table has the details. */
export function ConnectionStrip({
  device,
  fromMs,
  toMs,
  zone,
}: WindowProps & { readonly device: DeviceConnectionStrips }) {
  const lengthMs = toMs - fromMs
  return (
    <div className={classes.strip} role="img" aria-label={`${device.name}: ${device.text}`}>
      {device.parts.map((part) => (
        <span
          key={part.fromMs}
          className={classes.part}
          data-state={part.state}
          style={{ left: percent(part.fromMs - fromMs, lengthMs), width: percent(part.toMs - part.fromMs, lengthMs) }}
          title={`${partText(part)}, ${zonedTime(part.fromMs, zone)} to ${zonedTime(part.toMs, zone)}`}
        />
      ))}
      {device.marks.map((mark) => (
        <span
          key={`${mark.kind} ${mark.atMs} ${mark.text}`}
          className={classes.mark}
          data-kind={mark.kind}
          style={{ left: percent(mark.atMs - fromMs, lengthMs) }}
          title={`${mark.text}, ${zonedTime(mark.atMs, zone)}`}
        />
      ))}
    </div>
  )
}

/** A strip that is shorter than this has hours below it. */
const minDaysMs = 2 * dayMs
const hourSteps = [0.25, 0.5, 1, 3, 6, 12]
const maxHourLabels = 8
/** A label needs so much of the width before the end of the strip. */
const minLabelShare = 0.05

/** A label stands below the start of its day, or below its hour. A day that began before the window has none. */
export function StripTimes({ fromMs, toMs, zone }: WindowProps) {
  const labels =
    toMs - fromMs >= minDaysMs
      ? zonedDays(fromMs, toMs, zone).map(({ startMs }) => ({ atMs: startMs, text: zonedWeekday(startMs, zone) }))
      : hoursIn(fromMs, toMs).map((atMs) => ({ atMs, text: zonedClock(atMs, zone) }))
  return (
    <div className={classes.days} aria-hidden="true">
      {labels
        .filter(({ atMs }) => atMs >= fromMs && atMs <= toMs - minLabelShare * (toMs - fromMs))
        .map(({ atMs, text }) => (
          <span key={atMs} className={classes.day} style={{ left: percent(atMs - fromMs, toMs - fromMs) }}>
            {text}
          </span>
        ))}
    </div>
  )
}

/** The full hours of a short window, or quarters of them, so that at most eight fit. */
function hoursIn(fromMs: number, toMs: number): number[] {
  const lengthMs = toMs - fromMs
  if (lengthMs <= 0) return []
  const stepMs = hourMs * (hourSteps.find((hours) => lengthMs / (hours * hourMs) <= maxHourLabels) ?? 12)
  const firstMs = Math.ceil(fromMs / stepMs) * stepMs
  return Array.from({ length: Math.max(0, Math.ceil((toMs - firstMs) / stepMs)) }, (_, i) => firstMs + i * stepMs)
}
