// A table that renders only the visible rows, for lists of tens of thousands.
// biome-ignore-all lint/a11y/useSemanticElements: rows are positioned by their offset, which the rows of a table element cannot be
// biome-ignore-all lint/a11y/useFocusableInteractive: the links and buttons in the cells take the focus
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the button in the row does the same by keyboard
import { Box } from '@mantine/core'
import { useElementScrollRestoration } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type MouseEvent, type ReactNode, useRef } from 'react'
import type { Column } from './column.ts'
import { TableHeadRow } from './head-row.tsx'
import type { RowKey, RowSelection } from './row-selection.ts'
import { SelectCell } from './select-cell.tsx'
import type { Sort } from './sorting.ts'
import { handleTableKey } from './table-keys.ts'
import { useStableScroll, useTopOffset } from './table-scroll.ts'
import classes from './virtual-table.module.css'

interface VirtualTableProps<T> {
  readonly label: string
  readonly rows: readonly T[]
  readonly columns: readonly Column<T>[]
  readonly keyOf: (row: T) => string | number
  readonly sort?: Sort | undefined
  readonly onSort?: (sort: Sort) => void
  /** Shown if there are no rows. */
  readonly empty?: ReactNode
  readonly rowHeight?: number
  /** A table that is wider than the window scrolls sideways; its rows are never narrower than this. */
  readonly minWidthPx?: number
  /** The table fills the height of the window, but is never lower than this. */
  readonly minHeightPx?: number
  /** The height of the content below the table, including the margin of the page. */
  readonly belowPx?: number
  /** Does the same as the first button of the row. */
  readonly onRowClick?: (row: T) => void
  /** The content of a row that is one cell of any height, such as the details of the row above; undefined for normal rows. */
  readonly wideContent?: (row: T) => ReactNode
  /** Each row gets a checkbox, which is named after the row. */
  readonly selection?: { readonly rows: RowSelection; readonly nameOf: (row: T) => string } | undefined
  /** Each row is a card: the first two columns are its first line, and the others follow with their titles. */
  readonly isCards?: boolean
  /** New rows are added at the top; the scroll position then follows the rows that the user reads. */
  readonly growsAbove?: boolean
}

/** The estimated height until the row is measured. */
const wideRowHeightPx = 240
const cardHeightPx = 104

export function VirtualTable<T>(props: VirtualTableProps<T>) {
  const {
    label,
    rows,
    columns,
    keyOf,
    sort,
    onSort,
    empty,
    rowHeight = 44,
    minWidthPx = 640,
    minHeightPx = 360,
    belowPx = 32,
    onRowClick,
    wideContent,
    growsAbove = false,
    selection,
    isCards = false,
  } = props
  const scroller = useRef<HTMLDivElement>(null)
  const top = useTopOffset(scroller)
  // Restores the scroll position when the user navigates back to the list.
  const left = useElementScrollRestoration({ id: label })
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) =>
      isCards ? cardHeightPx : wideContent?.(rows[index] as T) === undefined ? rowHeight : wideRowHeightPx,
    overscan: 8,
    initialOffset: left?.scrollY ?? 0,
    getItemKey: (index) => keyOf(rows[index] as T),
  })
  useStableScroll(scroller, rows, keyOf, growsAbove ? rowHeight : 0)
  const template = [...(selection ? ['24px'] : []), ...columns.map((column) => column.width)].join(' ')
  const rowStyle = isCards ? {} : { gridTemplateColumns: template, minWidth: minWidthPx }

  return (
    <Box
      ref={scroller}
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length + (selection ? 1 : 0)}
      // A scrollable element must be reachable by keyboard.
      tabIndex={0}
      className={classes.scroller}
      style={{ maxHeight: `max(${minHeightPx}px, calc(100dvh - ${top + belowPx}px))` }}
      data-scroll-restoration-id={label}
      onKeyDown={(event) =>
        handleTableKey(event, {
          ...{ scroller, virtual, count: rows.length, selection: selection?.rows },
          keyAt: (index) => keyOf(rows[index] as T),
        })
      }
    >
      <TableHeadRow
        columns={columns}
        sort={sort}
        onSort={onSort}
        style={rowStyle}
        selection={selection?.rows}
        isHidden={isCards}
      />
      <div
        role="rowgroup"
        className={classes.body}
        style={{
          height: rows.length ? virtual.getTotalSize() : undefined,
          ...(!isCards && { minWidth: minWidthPx }),
        }}
      >
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index] as T
          const content = wideContent?.(row)
          const isWide = content !== undefined
          return (
            <div
              key={item.key}
              {...((isWide || isCards) && { ref: virtual.measureElement })}
              role="row"
              aria-rowindex={item.index + 2}
              data-index={item.index}
              {...(onRowClick &&
                !isWide && { 'data-clickable': true, onClick: (event) => isOnRow(event) && onRowClick(row) })}
              {...(selection?.rows.keys.has(item.key as RowKey) && { 'data-selected': true })}
              className={`${classes.item} ${isWide ? classes.wide : isCards ? classes.card : classes.row}`}
              style={{
                transform: `translateY(${item.start}px)`,
                ...(!isWide && !isCards && { ...rowStyle, height: rowHeight }),
              }}
            >
              {selection && !isWide && (
                <SelectCell selection={selection.rows} rowKey={keyOf(row)} name={selection.nameOf(row)} />
              )}
              {isWide ? (
                <div role="cell" aria-colspan={columns.length}>
                  {content}
                </div>
              ) : (
                columns.map((column, index) => (
                  <div key={column.id} role="cell" className={column.isNumber ? classes.number : classes.cell}>
                    {isCards && index > 1 && <span className={classes.title}>{column.title} </span>}
                    {column.cell(row)}
                  </div>
                ))
              )}
            </div>
          )
        })}
        {rows.length === 0 && (
          <div role="row" aria-rowindex={2}>
            <div role="cell" aria-colspan={columns.length}>
              {empty}
            </div>
          </div>
        )}
      </div>
    </Box>
  )
}

/** True for a click on the row itself: not on a link or button, and not at the end of a text selection. */
const isOnRow = ({ target }: MouseEvent): boolean =>
  !(target as HTMLElement).closest('a, button') && getSelection()?.type !== 'Range'
