// The cells of the tables by model: the name of the model, and a number of its devices as a link to them.
import { Link } from '@tanstack/react-router'
import { modelOf } from '../../../contract/device/models.ts'
import type { DeviceFilter } from '../../domain/fleet/device/device-rows.ts'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import type { Column } from '../../parts/table/column.ts'
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
  if (count === 0) return <span className={`${classes.dimmed} ${classes.deviceCount}`}>0</span>
  return (
    <Link
      to="/devices"
      search={filter}
      className={`${isBad ? classes.offline : classes.number} ${classes.deviceCount}`}
    >
      {count.toLocaleString('en-GB')}
      <VisuallyHidden> {[modelOf(filter.model).name, what].filter(Boolean).join(' ').toLowerCase()}</VisuallyHidden>
    </Link>
  )
}

export const modelColumn: Column<{ readonly model: string }> = {
  id: 'model',
  title: 'Model',
  breaksWords: true,
  cell: ({ model }) => <span className={classes.modelName}>{modelOf(model).name}</span>,
}
