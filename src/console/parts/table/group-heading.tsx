// The heading of a group of rows in a long table: its name, how many rows it has, and a checkbox that selects them.
// biome-ignore-all lint/a11y/useSemanticElements: the rows of the table are positioned by their offset, which the rows of a table element cannot be
// biome-ignore-all lint/a11y/useFocusableInteractive: the button and the checkbox take the focus
import { Checkbox, Text } from '@mantine/core'
import { DisclosureButton } from '../page/disclosure-button.tsx'
import classes from './data-table.module.css'
import type { RowSelection } from './row-selection.ts'
import type { HeadingItem } from './table-items.ts'

interface GroupHeadingProps {
  readonly item: HeadingItem
  readonly selection: RowSelection | undefined
  readonly columnCount: number
  readonly onToggle: () => void
}

export function GroupHeading({ item, selection, columnCount, onToggle }: GroupHeadingProps) {
  const { group, rowKeys, isOpen } = item
  const pickedCount = selection ? rowKeys.filter((key) => selection.keys.has(key)).length : 0
  const isAll = pickedCount === rowKeys.length
  return (
    <>
      {selection && (
        <div role="cell" className={classes.select}>
          <Checkbox
            size="xs"
            aria-label={`Select all in ${group.name}`}
            checked={isAll}
            indeterminate={pickedCount > 0 && !isAll}
            onChange={() => selection.setSome(rowKeys, !isAll)}
          />
        </div>
      )}
      <div role="rowheader" aria-colspan={columnCount} className={classes.group}>
        <DisclosureButton isOpen={isOpen} onClick={onToggle}>
          {group.name}
          <Text span fz="sm" c="dimmed" fw={400}>
            {' '}
            {rowKeys.length.toLocaleString('en-GB')}
          </Text>
        </DisclosureButton>
      </div>
    </>
  )
}
