// A number of devices of a model, as a link to them.
import { Link } from '@tanstack/react-router'
import { modelOf } from '../../../contract/device/models.ts'
import type { DeviceFilter } from '../../domain/fleet/device/device-rows.ts'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import classes from './overview.module.css'

interface DeviceCountProps {
  readonly filter: DeviceFilter & { readonly model: string }
  /** Distinguishes the number from the others of its model. */
  readonly what?: string
  readonly count: number
  readonly isBad?: boolean
}

/** Shows "5", and "5 pad offline" to screen readers. */
export function DeviceCount({ filter, what, count, isBad = false }: DeviceCountProps) {
  if (count === 0) return <span className={classes.dimmed}>0</span>
  return (
    <Link to="/devices" search={filter} className={isBad ? classes.offline : classes.number}>
      {count.toLocaleString('en-GB')}
      <VisuallyHidden> {[modelOf(filter.model).name, what].filter(Boolean).join(' ').toLowerCase()}</VisuallyHidden>
    </Link>
  )
}
