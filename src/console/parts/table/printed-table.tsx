// A table as it is printed: all of its columns with values and all rows, without buttons.
import { useSyncExternalStore } from 'react'
import { flushSync } from 'react-dom'
import type { Column } from './column.ts'
import classes from './data-table.module.css'
import type { RowKey } from './row-selection.ts'
import { TableElement } from './short-table.tsx'
import type { Sort } from './sorting.ts'
import type { TableDetails } from './table-details.ts'

const print = matchMedia('print')
/** True between the events of the browser before and after it prints. It lays out the paper before `print` tells that it changed. */
let isBetweenEvents = false
const subscribe = (onChange: () => void) => {
  const start = () => {
    isBetweenEvents = true
    // The browser lays out the paper when this returns.
    flushSync(onChange)
  }
  const end = () => {
    isBetweenEvents = false
    onChange()
  }
  addEventListener('beforeprint', start)
  addEventListener('afterprint', end)
  print.addEventListener('change', onChange)
  return () => {
    removeEventListener('beforeprint', start)
    removeEventListener('afterprint', end)
    print.removeEventListener('change', onChange)
  }
}

export const useIsPrinting = (): boolean => useSyncExternalStore(subscribe, () => isBetweenEvents || print.matches)

/** 1,600 rooms with three devices each, about 130 pages. More rows would stop the browser for many seconds. */
const maxPrintedRows = 5000
/** More columns than this need the longer side of the paper. */
const maxPortraitColumns = 7
/** More columns than this need smaller letters. */
const maxColumns = 12

interface PrintedTableProps<T> {
  readonly label: string
  readonly rows: readonly T[]
  readonly columns: readonly Column<T>[]
  readonly keyOf: (row: T) => RowKey
  readonly sort: Sort | undefined
  readonly details: TableDetails<T>
  /** The width of a table is for the screen. */
  readonly minWidthPx: number | undefined
}

export function PrintedTable<T>({ rows, columns, minWidthPx: _, ...others }: PrintedTableProps<T>) {
  const printed = columns.filter(({ isControl, isPrinted, isEmpty }) => !isControl && !isEmpty && isPrinted !== false)
  return (
    <div className={classes.printed} data-dense={printed.length > maxColumns || undefined}>
      {printed.length > maxPortraitColumns && <style>{'@page { size: landscape }'}</style>}
      <TableElement
        {...others}
        rows={rows.slice(0, maxPrintedRows)}
        // The width of a column is for the screen.
        columns={printed.map(({ width: __, ...column }) => column)}
        onSort={undefined}
        empty="None"
      />
      {rows.length > maxPrintedRows && (
        <p>
          The first {maxPrintedRows.toLocaleString('en-GB')} of {rows.length.toLocaleString('en-GB')} rows. Export a CSV
          file for all.
        </p>
      )}
    </div>
  )
}
