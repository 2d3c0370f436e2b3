// A bar of an availability, with a line at the target.
import classes from './target-bar.module.css'

interface TargetBarProps {
  readonly availability: number
  /** 0 to 1. */
  readonly target: number
  readonly isMissed: boolean
}

/** The bar begins at five times the distance of the target from 100 %, because all of it would look full. */
export function TargetBar({ availability, target, isMissed }: TargetBarProps) {
  const start = Math.max(0, 1 - 5 * Math.max(1 - target, 0.001))
  const placeOf = (share: number) => `${Math.max(0, (share - start) / (1 - start)) * 100}%`
  return (
    <span className={classes.bar} aria-hidden="true" data-missed={isMissed || undefined}>
      <span className={classes.value} style={{ width: placeOf(availability) }} />
      <span className={classes.target} style={{ left: placeOf(target) }} />
    </span>
  )
}
