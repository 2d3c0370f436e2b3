// The row with the headings of a table's columns, which sort it.
// biome-ignore-all lint/a11y/useSemanticElements: the rows of the table are positioned by their offset, which the rows of a table element cannot be
// biome-ignore-all lint/a11y/useFocusableInteractive: the buttons in the cells take the focus
import { UnstyledButton } from '@mantine/core'
import type { CSSProperties, ReactNode } from 'react'
import { type Column, placeInCard } from './column.ts'
import classes from './data-table.module.css'
import type { Sort } from './sorting.ts'

interface HeadRowProps<T> {
  readonly columns: readonly Column<T>[]
  readonly sort: Sort | undefined
  readonly onSort: ((sort: Sort) => void) | undefined
  readonly style: CSSProperties
  /** The heading of the checkboxes, in a list whose rows can be selected. */
  readonly selectCell?: ReactNode
  /** Cards have headings that only screen readers read. */
  readonly isHidden: boolean
}

export const TableHeadRow = <T,>({ columns, sort, onSort, style, selectCell, isHidden }: HeadRowProps<T>) => (
  <div role="rowgroup" className={isHidden ? classes.hidden : classes.head}>
    <div role="row" aria-rowindex={1} className={classes.row} style={style}>
      {selectCell}
      {(isHidden ? placeInCard(columns).map(({ column }) => column) : columns).map((column) => (
        <HeadCell key={column.id} column={column} sort={sort} onSort={isHidden ? undefined : onSort} />
      ))}
    </div>
  </div>
)

interface HeadCellProps<T> {
  readonly column: Column<T>
  readonly sort: Sort | undefined
  readonly onSort: ((sort: Sort) => void) | undefined
}

function HeadCell<T>({ column, sort, onSort }: HeadCellProps<T>) {
  return (
    <div role="columnheader" className={column.isNumber ? classes.number : classes.cell} {...ariaSort(column, sort)}>
      <Heading column={column} sort={sort} onSort={onSort} />
    </div>
  )
}

const orderOf = ({ id }: { readonly id: string }, sort: Sort | undefined) =>
  sort?.by === id ? (sort.descending ? 'descending' : 'ascending') : undefined

export function ariaSort(column: { readonly id: string }, sort: Sort | undefined) {
  const order = orderOf(column, sort)
  return order && ({ 'aria-sort': order } as const)
}

/** The title of a column; a button, if rows can be sorted by it. */
export function Heading<T>({ column, sort, onSort }: HeadCellProps<T>) {
  if (!column.sortValue || !onSort) return column.title
  const order = orderOf(column, sort)
  return (
    <UnstyledButton
      className={classes.sort}
      onClick={() => onSort({ by: column.id, descending: order === 'ascending' })}
    >
      {column.title}
      <span aria-hidden="true">{order === 'ascending' ? ' ↑' : order === 'descending' ? ' ↓' : ''}</span>
    </UnstyledButton>
  )
}
