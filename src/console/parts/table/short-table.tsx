// The short form of a table: all rows, as a table element or as cards. Long tables are printed in this form too.
// biome-ignore-all lint/a11y/useSemanticElements: cards are not laid out as the cells of a table element
// biome-ignore-all lint/a11y/useFocusableInteractive: the links and buttons in the cells take the focus
// biome-ignore-all lint/a11y/noNoninteractiveTabindex: an element that scrolls must be reachable by keyboard
import { Table } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import { CardCells } from './card-cells.tsx'
import type { Column } from './column.ts'
import classes from './data-table.module.css'
import { useDensity } from './density.ts'
import { ariaSort, Heading, TableHeadRow } from './head-row.tsx'
import type { RowKey } from './row-selection.ts'
import type { Sort } from './sorting.ts'
import type { TableDetails } from './table-details.ts'

interface ShortTableProps<T> {
  readonly label: string
  readonly rows: readonly T[]
  readonly columns: readonly Column<T>[]
  readonly keyOf: (row: T) => RowKey
  readonly sort: Sort | undefined
  readonly onSort: ((sort: Sort) => void) | undefined
  readonly empty: ReactNode
  readonly details: TableDetails<T>
  /** A table that is narrower than this scrolls sideways. */
  readonly minWidthPx: number | undefined
  /** A table that is higher than this scrolls. */
  readonly maxHeightPx: number | undefined
}

export function ShortTable<T>({ minWidthPx = 0, maxHeightPx, ...props }: ShortTableProps<T>) {
  return (
    <div
      className={classes.short}
      style={{ maxHeight: maxHeightPx }}
      {...((minWidthPx > 0 || maxHeightPx !== undefined) && { tabIndex: 0 })}
    >
      <TableElement {...props} minWidthPx={minWidthPx} />
    </div>
  )
}

type TableElementProps<T> = Omit<ShortTableProps<T>, 'maxHeightPx' | 'minWidthPx'> & {
  readonly minWidthPx?: number
  readonly className?: string | undefined
}

export function TableElement<T>(props: TableElementProps<T>) {
  const { label, rows, columns, keyOf, sort, onSort, empty, details, minWidthPx, className } = props
  const [density] = useDensity()
  return (
    <Table
      stickyHeader
      fz="sm"
      verticalSpacing={0}
      data-density={density}
      aria-label={label}
      className={`${classes.table} ${className ?? ''}`}
      {...(minWidthPx && { miw: minWidthPx })}
    >
      <Table.Thead>
        <Table.Tr>
          {columns.map((column) => (
            <Table.Th
              key={column.id}
              scope="col"
              data-number={column.isNumber || undefined}
              data-control={column.isControl || undefined}
              style={{ width: column.width }}
              {...ariaSort(column, sort)}
            >
              <Heading column={column} sort={sort} onSort={onSort} />
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => {
          const ofRow = details.of(row)
          return (
            <Fragment key={keyOf(row)}>
              <Table.Tr>
                {columns.map((column, index) => {
                  const cell = {
                    'data-number': column.isNumber || undefined,
                    'data-control': column.isControl || undefined,
                    'data-breaks': column.breaksWords || undefined,
                    children: column.cell(row, ofRow),
                  }
                  return index === 0 ? (
                    <Table.Th key={column.id} scope="row" {...cell} />
                  ) : (
                    <Table.Td key={column.id} {...cell} />
                  )
                })}
              </Table.Tr>
              {ofRow.isOpen && (
                <Table.Tr id={ofRow.id}>
                  <Table.Td colSpan={columns.length} className={classes.wide}>
                    {details.content?.(row)}
                  </Table.Td>
                </Table.Tr>
              )}
            </Fragment>
          )
        })}
        {rows.length === 0 && (
          <Table.Tr>
            <Table.Td colSpan={columns.length}>{empty}</Table.Td>
          </Table.Tr>
        )}
      </Table.Tbody>
    </Table>
  )
}

type CardTableProps<T> = Omit<ShortTableProps<T>, 'sort' | 'onSort' | 'minWidthPx'>

/** A table for screen readers, like its long form. */
export const CardTable = <T,>({ label, rows, columns, keyOf, empty, details, maxHeightPx }: CardTableProps<T>) => (
  <div
    role="table"
    aria-label={label}
    className={classes.cards}
    style={{ maxHeight: maxHeightPx }}
    {...(maxHeightPx !== undefined && { tabIndex: 0 })}
  >
    <TableHeadRow columns={columns} sort={undefined} onSort={undefined} style={{}} isHidden />
    <div role="rowgroup">
      {rows.map((row) => {
        const ofRow = details.of(row)
        return (
          <Fragment key={keyOf(row)}>
            <div role="row" className={classes.card}>
              <CardCells columns={columns} row={row} details={ofRow} />
            </div>
            {ofRow.isOpen && (
              <div role="row" id={ofRow.id} className={classes.wide}>
                <div role="cell" aria-colspan={columns.length}>
                  {details.content?.(row)}
                </div>
              </div>
            )}
          </Fragment>
        )
      })}
      {rows.length === 0 && (
        <div role="row">
          <div role="cell" aria-colspan={columns.length}>
            {empty}
          </div>
        </div>
      )}
    </div>
  </div>
)
