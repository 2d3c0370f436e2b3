// A small line without axes: how a number has changed. Screen readers get it as a sentence.
import classes from './sparkline.module.css'

interface SparklineProps {
  /** Null where there is no value: the line has a gap there. */
  readonly values: readonly (number | null)[]
  /** Says what the line shows, such as "Offline rooms, last 24 hours". */
  readonly label: string
  readonly colour: string
}

const [widthPx, heightPx, marginPx] = [96, 24, 2]

/** The smallest range that is drawn: a change by one of hundreds must not look like an outage. */
const rangeOf = (most: number) => Math.max(3, most / 20)

export function Sparkline({ values, label, colour }: SparklineProps) {
  const known = values.filter((value) => value !== null)
  const [least, most, last] = [Math.min(...known), Math.max(...known), known.at(-1)]
  if (last === undefined) return null
  const range = Math.max(most - least, rangeOf(most))
  const bottom = Math.max(0, Math.min(least, most - range))
  const x = (index: number) => (index / Math.max(1, values.length - 1)) * widthPx
  const y = (value: number) => heightPx - marginPx - ((value - bottom) / range) * (heightPx - 2 * marginPx)
  const number = (value: number) => value.toLocaleString('en-GB')
  return (
    <svg
      className={classes.line}
      viewBox={`0 0 ${widthPx} ${heightPx}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${number(least)} to ${number(most)}, last ${number(last)}`}
    >
      <path d={pathOf(values, x, y)} style={{ stroke: colour }} />
      {/* Now: a dot, drawn as a line without length because a circle would be stretched. */}
      <path
        className={classes.now}
        d={`M${x(values.lastIndexOf(last)).toFixed(1)} ${y(last).toFixed(1)}h0`}
        style={{ stroke: colour }}
      />
    </svg>
  )
}

/** Steps, because a number of rooms does not pass through the values between. */
function pathOf(values: SparklineProps['values'], x: (index: number) => number, y: (value: number) => number): string {
  let path = ''
  let before: number | null = null
  values.forEach((value, index) => {
    if (value === null) {
      before = null
      return
    }
    const [left, top] = [x(index).toFixed(1), y(value).toFixed(1)]
    if (before === null) path += `M${left} ${top}h.5`
    else path += value === before ? `H${left}` : `H${left}V${top}`
    before = value
  })
  return path
}
