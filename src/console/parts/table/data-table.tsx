// The table of the console: columns are described as data; it sorts, selects, opens details, turns into cards on a phone, is printed and exported.
import { type ReactNode, useMemo, useState } from 'react'
import type { Column } from './column.ts'
import { type ChosenColumns, type ColumnsInAddress, useColumnChoice } from './column-choice.ts'
import { PrintedTable, useIsPrinting } from './printed-table.tsx'
import type { RowKey } from './row-selection.ts'
import { CardTable, ShortTable } from './short-table.tsx'
import { type Sort, sortRows } from './sorting.ts'
import { type TableDetails, useTableDetails } from './table-details.ts'

interface DataTableProps<T> {
  readonly label: string
  readonly rows: readonly T[]
  readonly columns: readonly Column<T>[]
  readonly keyOf: (row: T) => RowKey
  /** The present order, for a page that sorts the rows and keeps the order in its address. Otherwise the table sorts. */
  readonly sort?: Sort | undefined
  readonly onSort?: (sort: Sort) => void
  /** The columns of a saved view. */
  readonly columnsInAddress?: ColumnsInAddress | undefined
  /** Shown if there are no rows. */
  readonly empty?: ReactNode
  /** The content below an open row. A cell of the row has the button that opens it. */
  readonly details?: (row: T) => ReactNode
  /** In a narrower window the rows are cards. */
  readonly minWidthPx?: number
  /** A short table that is higher than this scrolls. */
  readonly maxHeightPx?: number
  /** `longTable(…)` for lists of any length, which fill the window and render visible rows only. */
  readonly long?: (body: TableBody<T>) => ReactNode
}

/** The content of a table in the order and with the columns in which it is shown. */
export interface TableBody<T> {
  readonly label: string
  readonly rows: readonly T[]
  readonly columns: readonly Column<T>[]
  readonly allColumns: readonly Column<T>[]
  readonly chosen: ChosenColumns<T>
  readonly keyOf: (row: T) => RowKey
  readonly sort: Sort | undefined
  readonly onSort: (sort: Sort) => void
  readonly empty: ReactNode
  readonly details: TableDetails<T>
  readonly minWidthPx: number | undefined
}

export function DataTable<T>(props: DataTableProps<T>) {
  const { label, columns, keyOf, empty, minWidthPx, maxHeightPx, long } = props
  const details = useTableDetails(keyOf, props.details)
  const chosen = useColumnChoice(label, columns, props.columnsInAddress, minWidthPx)
  const isPrinting = useIsPrinting()
  const { ordered, sort, onSort } = useOwnSort(props)
  const body = { label, rows: ordered, columns: chosen.shown, keyOf, sort, onSort, empty, details, minWidthPx }
  return (
    <>
      {long ? (
        long({ ...body, allColumns: columns, chosen })
      ) : chosen.isCards ? (
        <CardTable {...body} maxHeightPx={maxHeightPx} />
      ) : (
        <ShortTable {...body} maxHeightPx={maxHeightPx} />
      )}
      {isPrinting && <PrintedTable {...body} columns={chosen.inFiles} />}
    </>
  )
}

/** Rows keep their order until the user sorts them. */
function useOwnSort<T>({ rows, columns, sort, onSort }: DataTableProps<T>) {
  const [ownSort, setOwnSort] = useState<Sort>()
  const key = onSort || !ownSort ? undefined : columns.find(({ id }) => id === ownSort.by)?.sortValue
  const descending = ownSort?.descending ?? false
  const ordered = useMemo(() => (key ? sortRows(rows, key, descending, () => 0) : rows), [rows, key, descending])
  return onSort ? { ordered: rows, sort, onSort } : { ordered, sort: ownSort, onSort: setOwnSort }
}
