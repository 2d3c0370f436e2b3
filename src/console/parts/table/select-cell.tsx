// The checkboxes that select one row of a table, or all that match.
// biome-ignore-all lint/a11y/useSemanticElements: the rows of the table are positioned by their offset, which the rows of a table element cannot be
// biome-ignore-all lint/a11y/useFocusableInteractive: the checkbox takes the focus
import { Checkbox } from '@mantine/core'
import type { ChangeEvent } from 'react'
import classes from './data-table.module.css'
import type { RowKey, RowSelection } from './row-selection.ts'

interface SelectCellProps {
  readonly selection: RowSelection
  readonly rowKey: RowKey
  readonly name: string
}

/** A click with the Shift key selects a range. */
export function SelectCell({ selection, rowKey, name }: SelectCellProps) {
  const pick = ({ nativeEvent }: ChangeEvent) => {
    if (nativeEvent instanceof PointerEvent && nativeEvent.shiftKey) selection.extend(rowKey, rowKey)
    else selection.toggle(rowKey)
  }
  return (
    <div role="cell" className={classes.select}>
      <Checkbox size="xs" aria-label={`Select ${name}`} checked={selection.keys.has(rowKey)} onChange={pick} />
    </div>
  )
}

interface SelectAllCellProps {
  readonly selection: RowSelection
  /** Cards have headings that only screen readers read. */
  readonly isHidden: boolean
}

export function SelectAllCell({ selection, isHidden }: SelectAllCellProps) {
  if (isHidden) return <div role="columnheader">Selected</div>
  const { shownCount, matchCount, setAll } = selection
  const isAll = matchCount > 0 && shownCount === matchCount
  return (
    <div role="columnheader" className={classes.select}>
      <Checkbox
        size="xs"
        aria-label={`Select all ${matchCount.toLocaleString('en-GB')} that match`}
        checked={isAll}
        indeterminate={shownCount > 0 && !isAll}
        disabled={matchCount === 0}
        onChange={() => setAll(!isAll)}
      />
    </div>
  )
}
