// A table that renders only the visible rows, for lists of tens of thousands.
// biome-ignore-all lint/a11y/useSemanticElements: rows are positioned by their offset, which the rows of a table element cannot be
// biome-ignore-all lint/a11y/useFocusableInteractive: the links and buttons in the cells take the focus
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the button in the row does the same by keyboard
import { Box, UnstyledButton } from '@mantine/core'
import { useElementScrollRestoration } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { Sort } from './sorting.ts'
import classes from './virtual-table.module.css'

export interface Column<T> {
  readonly id: string
  readonly title: string
  /** A track size of grid-template-columns, such as "2fr" or "120px". */
  readonly width: string
  readonly cell: (row: T) => ReactNode
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean
  /** The heading is a button that sorts. */
  readonly canSort?: boolean
}

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
  /** The table fills the height of the window, but is never lower than this. */
  readonly minHeightPx?: number
  /** The height of the content below the table, including the margin of the page. */
  readonly belowPx?: number
  /** Does the same as the first button of the row. */
  readonly onRowClick?: (row: T) => void
  /** The content of a row that is one cell of any height, such as the details of the row above; undefined for normal rows. */
  readonly wideContent?: (row: T) => ReactNode
  /** New rows are added at the top; the scroll position then follows the rows that the user reads. */
  readonly growsAbove?: boolean
}

/** The estimated height until the row is measured. */
const wideRowHeightPx = 240

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
    minHeightPx = 360,
    belowPx = 32,
    onRowClick,
    wideContent,
    growsAbove = false,
  } = props
  const scroller = useRef<HTMLDivElement>(null)
  const top = useTopOffset(scroller)
  // Restores the scroll position when the user navigates back to the list.
  const left = useElementScrollRestoration({ id: label })
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (wideContent?.(rows[index] as T) === undefined ? rowHeight : wideRowHeightPx),
    overscan: 8,
    initialOffset: left?.scrollY ?? 0,
    getItemKey: (index) => keyOf(rows[index] as T),
  })
  useStableScroll(scroller, rows, keyOf, growsAbove ? rowHeight : 0)
  const template = columns.map((column) => column.width).join(' ')

  /** The arrow keys move the focus between the first links or buttons of the rows. */
  const moveBetweenRows = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const row = (event.target as HTMLElement).closest('[data-index]')
    if (!step || !row) return
    event.preventDefault()
    const next = Number(row.getAttribute('data-index')) + step
    if (next < 0 || next >= rows.length) return
    virtual.scrollToIndex(next)
    requestAnimationFrame(() => {
      scroller.current
        ?.querySelector<HTMLElement>(`[data-index="${next}"] :is(a, button)`)
        ?.focus({ preventScroll: true })
    })
  }

  return (
    <Box
      ref={scroller}
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      // A scrollable element must be reachable by keyboard.
      tabIndex={0}
      className={classes.scroller}
      style={{ maxHeight: `max(${minHeightPx}px, calc(100dvh - ${top + belowPx}px))` }}
      data-scroll-restoration-id={label}
      onKeyDown={moveBetweenRows}
    >
      <div role="rowgroup" className={classes.head}>
        <div role="row" aria-rowindex={1} className={classes.row} style={{ gridTemplateColumns: template }}>
          {columns.map((column) => (
            <HeadCell key={column.id} column={column} sort={sort} onSort={onSort} />
          ))}
        </div>
      </div>
      <div
        role="rowgroup"
        className={classes.body}
        style={{ height: rows.length ? virtual.getTotalSize() : undefined }}
      >
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index] as T
          const content = wideContent?.(row)
          const isWide = content !== undefined
          return (
            <div
              key={item.key}
              {...(isWide && { ref: virtual.measureElement })}
              role="row"
              aria-rowindex={item.index + 2}
              data-index={item.index}
              {...(onRowClick &&
                !isWide && { 'data-clickable': true, onClick: (event) => isOnRow(event) && onRowClick(row) })}
              className={`${classes.item} ${isWide ? classes.wide : classes.row}`}
              style={{
                transform: `translateY(${item.start}px)`,
                ...(!isWide && { gridTemplateColumns: template, height: rowHeight }),
              }}
            >
              {isWide ? (
                <div role="cell" aria-colspan={columns.length}>
                  {content}
                </div>
              ) : (
                columns.map((column) => (
                  <div key={column.id} role="cell" className={column.isNumber ? classes.number : classes.cell}>
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

interface HeadCellProps<T> {
  readonly column: Column<T>
  readonly sort: Sort | undefined
  readonly onSort: ((sort: Sort) => void) | undefined
}

function HeadCell<T>({ column, sort, onSort }: HeadCellProps<T>) {
  const isSorted = sort?.by === column.id
  const order = isSorted ? (sort.descending ? 'descending' : 'ascending') : undefined
  const next = { by: column.id, descending: isSorted && !sort.descending }
  return (
    <div
      role="columnheader"
      className={column.isNumber ? classes.number : classes.cell}
      {...(order && { 'aria-sort': order })}
    >
      {column.canSort && onSort ? (
        <UnstyledButton className={classes.sort} onClick={() => onSort(next)}>
          {column.title}
          <span aria-hidden="true">{order === 'ascending' ? ' ↑' : order === 'descending' ? ' ↓' : ''}</span>
        </UnstyledButton>
      ) : (
        column.title
      )}
    </div>
  )
}

/** Keeps the visible rows in place when rows are added at the top; a `rowHeight` of 0 turns it off. */
function useStableScroll<T>(
  scroller: RefObject<HTMLDivElement | null>,
  rows: readonly T[],
  keyOf: (row: T) => string | number,
  rowHeight: number,
): void {
  const first = rows[0] === undefined ? undefined : keyOf(rows[0])
  const before = useRef(first)
  useLayoutEffect(() => {
    const box = scroller.current
    const added =
      rowHeight === 0 || before.current === first ? 0 : rows.findIndex((row) => keyOf(row) === before.current)
    if (box && box.scrollTop > 0 && added > 0) box.scrollTop += added * rowHeight
    before.current = first
  }, [scroller, rows, keyOf, first, rowHeight])
}

/** True for a click on the row itself: not on a link or button, and not at the end of a text selection. */
const isOnRow = ({ target }: MouseEvent): boolean =>
  !(target as HTMLElement).closest('a, button') && getSelection()?.type !== 'Range'

/** The table's offset from the top of the page, which changes when the content above it wraps or changes. */
function useTopOffset(scroller: RefObject<HTMLDivElement | null>): number {
  // The first guess is rather large: a table that is too high could not restore its scroll position.
  const [top, setTop] = useState(400)
  useLayoutEffect(() => {
    const box = scroller.current
    if (!box) return
    const measure = () => setTop(Math.ceil(box.getBoundingClientRect().top + scrollY))
    measure()
    const observer = new ResizeObserver(measure)
    for (const around of [box.parentElement, document.body]) if (around) observer.observe(around)
    return () => observer.disconnect()
  }, [scroller])
  return top
}
