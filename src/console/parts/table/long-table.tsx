// The form of a DataTable for lists of any length. It fills the window. Above it are the number of rows, the choice of columns, the export and the actions for selected rows.
import { Button, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { ColumnMenu } from './column-menu.tsx'
import type { TableBody } from './data-table.tsx'
import { DensitySwitch } from './density-switch.tsx'
import { exportRows } from './export-rows.ts'
import { SelectionBar } from './selection-bar.tsx'
import { type VirtualOptions, VirtualTable } from './virtual-table.tsx'

interface LongOptions<T> extends VirtualOptions<T> {
  /** The name of the list: its columns can be chosen, and its rows are exported to a file with this name. */
  readonly list?: string
  /** Text next to the buttons above the list, such as the number of rows. */
  readonly summary?: ReactNode
  /** Further buttons above the list, which get the ids of the chosen columns. */
  readonly buttons?: (chosenColumns: readonly string[] | undefined) => ReactNode
}

/** Tables that are never long do not load the code of this form. */
export const longTable =
  <T,>(options: LongOptions<T>) =>
  (body: TableBody<T>) => <LongTable {...options} body={body} />

function LongTable<T>({ list, summary, buttons, body, ...options }: LongOptions<T> & { readonly body: TableBody<T> }) {
  const { chosen, allColumns, ...shown } = body
  const { selection } = options
  const save = (saved: readonly T[]) => exportRows(list ?? '', chosen.inFiles, saved)
  return (
    <>
      {list !== undefined && (
        <Group justify="space-between" gap="xs">
          {summary}
          <Group gap={4} wrap="nowrap" miw={0}>
            {buttons?.(chosen.chosenIds)}
            {!selection?.selected.length && body.rows.length > 0 && <ExportButton onClick={() => save(body.rows)} />}
            {!chosen.isCards && <ColumnMenu columns={allColumns} chosen={chosen} />}
            {!chosen.isCards && <DensitySwitch />}
          </Group>
        </Group>
      )}
      {selection && selection.selected.length > 0 && (
        <SelectionBar selection={selection.rows} count={selection.selected.length}>
          {selection.actions}
          <ExportButton onClick={() => save(selection.selected)} />
        </SelectionBar>
      )}
      <VirtualTable {...options} {...shown} isCards={chosen.isCards} />
    </>
  )
}

const ExportButton = ({ onClick }: { readonly onClick: () => void }) => (
  <Button variant="subtle" size="compact-sm" style={{ flex: 'none' }} onClick={onClick}>
    Export CSV
  </Button>
)
