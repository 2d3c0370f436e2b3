// The table of the console: columns are described as data; it sorts, selects, opens details, turns into cards on a phone, is printed and exported.
import { Button, Group } from '@mantine/core'
import { type ReactNode, useMemo, useState } from 'react'
import type { Column } from './column.ts'
import { ColumnMenu, useColumnChoice } from './column-choice.tsx'
import { exportRows } from './export-rows.ts'
import { PrintedTable, useIsPrinting } from './printed-table.tsx'
import type { RowKey } from './row-selection.ts'
import { SelectionBar } from './selection-bar.tsx'
import { CardTable, ShortTable } from './short-table.tsx'
import { type Sort, sortRows } from './sorting.ts'
import { useTableDetails } from './table-details.ts'
import { type LongTable, VirtualTable } from './virtual-table.tsx'

interface DataTableProps<T> {
  readonly label: string
  readonly rows: readonly T[]
  readonly columns: readonly Column<T>[]
  readonly keyOf: (row: T) => RowKey
  /** The present order, for a page that sorts the rows and keeps the order in its address. Otherwise the table sorts. */
  readonly sort?: Sort | undefined
  readonly onSort?: (sort: Sort) => void
  /** Shown if there are no rows. */
  readonly empty?: ReactNode
  /** What an open row shows below itself. A cell of the row has the button that opens it. */
  readonly details?: (row: T) => ReactNode
  /** A short table that is narrower than this scrolls sideways. */
  readonly minWidthPx?: number
  /** A short table that is higher than this scrolls. */
  readonly maxHeightPx?: number
  /** For lists of any length, which fill the window and render visible rows only. */
  readonly long?: LongTable<T>
  /** The name of the list: its columns can be chosen, and its rows are exported to a file with this name. */
  readonly list?: string
  /** Text beside the buttons above the list, such as the number of rows. */
  readonly summary?: ReactNode
}

export function DataTable<T>(props: DataTableProps<T>) {
  const { label, rows, columns, keyOf, empty, minWidthPx, maxHeightPx, long, list, summary } = props
  const details = useTableDetails(keyOf, props.details)
  const chosen = useColumnChoice(list ?? label, columns)
  const isPrinting = useIsPrinting()
  const { ordered, sort, onSort } = useOwnSort(props)
  const { isCards, shown } = chosen
  const selection = long?.selection
  const body = { label, rows: ordered, keyOf, sort, onSort, empty, details, columns: shown }
  const save = (saved: readonly T[]) => exportRows(`${list}.csv`, chosen.inFiles, saved)
  return (
    <>
      {list !== undefined && (
        <Group justify="space-between" gap="xs" wrap="nowrap">
          {summary}
          <Group gap={4} wrap="nowrap">
            {!selection?.selected.length && rows.length > 0 && <ExportButton onClick={() => save(rows)} />}
            {!isCards && <ColumnMenu columns={columns} chosen={chosen} />}
          </Group>
        </Group>
      )}
      {selection && selection.selected.length > 0 && (
        <SelectionBar selection={selection.rows} count={selection.selected.length}>
          {selection.actions}
          <ExportButton onClick={() => save(selection.selected)} />
        </SelectionBar>
      )}
      {long ? (
        <VirtualTable {...long} {...body} isCards={isCards} />
      ) : isCards ? (
        <CardTable {...body} maxHeightPx={maxHeightPx} />
      ) : (
        <ShortTable {...body} minWidthPx={minWidthPx} maxHeightPx={maxHeightPx} />
      )}
      {isPrinting && <PrintedTable {...body} columns={chosen.inFiles} />}
    </>
  )
}

const ExportButton = ({ onClick }: { readonly onClick: () => void }) => (
  <Button variant="subtle" size="compact-sm" style={{ flex: 'none' }} onClick={onClick}>
    Export CSV
  </Button>
)

/** Rows keep their order until the user sorts them. */
function useOwnSort<T>({ rows, columns, sort, onSort }: DataTableProps<T>) {
  const [ownSort, setOwnSort] = useState<Sort>()
  const key = onSort || !ownSort ? undefined : columns.find(({ id }) => id === ownSort.by)?.sortValue
  const descending = ownSort?.descending ?? false
  const ordered = useMemo(() => (key ? sortRows(rows, key, descending, () => 0) : rows), [rows, key, descending])
  return onSort ? { ordered: rows, sort, onSort } : { ordered, sort: ownSort, onSort: setOwnSort }
}
