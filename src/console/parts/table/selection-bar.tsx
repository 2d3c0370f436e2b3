// The bar above a list with selected rows: how many there are, and what can be done with all of them.
import { Button, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { RowSelection } from './row-selection.ts'
import classes from './selection-bar.module.css'

interface SelectionBarProps {
  readonly selection: RowSelection
  /** How many of the selected rows still exist. */
  readonly count: number
  /** The buttons of the actions. */
  readonly children: ReactNode
}

export function SelectionBar({ selection, count, children }: SelectionBarProps) {
  const { shownCount, matchCount, setAll, clear } = selection
  const hiddenCount = count - shownCount
  return (
    <Group component="section" aria-label="Selection" className={classes.bar ?? ''} gap={4}>
      <Text fz="sm" fw={600} role="status" mr="xs" style={{ flex: 'none' }}>
        {count.toLocaleString('en-GB')} selected
        {hiddenCount > 0 && ` (${hiddenCount.toLocaleString('en-GB')} not shown)`}
      </Text>
      {shownCount < matchCount && (
        <Button variant="subtle" size="compact-sm" style={{ flex: 'none' }} onClick={() => setAll(true)}>
          All {matchCount.toLocaleString('en-GB')} that match
        </Button>
      )}
      {children}
      <Button variant="subtle" size="compact-sm" style={{ flex: 'none' }} onClick={clear}>
        Clear
      </Button>
    </Group>
  )
}
