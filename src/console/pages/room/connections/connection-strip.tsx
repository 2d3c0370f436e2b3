// The strip of one device: its parts, with marks above them, and the days below.
import { zonedTime, zonedWeekday } from '../../../parts/text/time.tsx'
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

/** A label stands below the start of its day. A day that began before the window has none. */
export const StripDays = ({ fromMs, toMs, zone }: WindowProps) => (
  <div className={classes.days} aria-hidden="true">
    {zonedDays(fromMs, toMs, zone)
      .filter(({ startMs }) => startMs >= fromMs)
      .map(({ startMs }) => (
        <span key={startMs} className={classes.day} style={{ left: percent(startMs - fromMs, toMs - fromMs) }}>
          {zonedWeekday(startMs, zone)}
        </span>
      ))}
  </div>
)
