// Lets the user choose the columns of a list, among those that have values.
import { Button, Checkbox, Popover, Stack } from '@mantine/core'
import { DownIcon } from '../page/icons.tsx'
import type { Column } from './column.ts'
import type { ChosenColumns } from './column-choice.ts'

interface ColumnMenuProps<T> {
  readonly columns: readonly Column<T>[]
  readonly chosen: ChosenColumns<T>
}

export function ColumnMenu<T>({ columns, chosen: { shown, choose } }: ColumnMenuProps<T>) {
  const ids = new Set(shown.map(({ id }) => id))
  return (
    <Popover position="bottom-end" trapFocus withRoles returnFocus>
      <Popover.Target>
        <Button variant="subtle" size="compact-sm" rightSection={<DownIcon size={14} />}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns">
        <Stack gap="xs">
          {columns
            .slice(1)
            .map(
              ({ id, title, isControl, isEmpty }) =>
                !isControl &&
                !isEmpty && (
                  <Checkbox
                    key={id}
                    size="xs"
                    label={title}
                    checked={ids.has(id)}
                    onChange={(event) => choose(id, event.currentTarget.checked)}
                  />
                ),
            )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
