// A table that draws only the rows in sight: ten thousand cost as much as forty.
// biome-ignore-all lint/a11y/useSemanticElements: rows are placed by their offset, which the rows of a table element cannot be
// biome-ignore-all lint/a11y/useFocusableInteractive: what is focused are the links and buttons in its cells
// biome-ignore-all lint/a11y/useKeyWithClickEvents: what a click on a row does, the button in the row does by keyboard
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
  /** As in grid-template-columns: "2fr", "120px". */
  readonly width: string
  readonly cell: (row: T) => ReactNode
  /** Numbers stand on the right. */
  readonly isNumber?: boolean
  /** Its heading sorts. */
  readonly canSort?: boolean
}

interface VirtualTableProps<T> {
  readonly label: string
  readonly rows: readonly T[]
  readonly columns: readonly Column<T>[]
  readonly keyOf: (row: T) => string | number
  readonly sort?: Sort | undefined
  readonly onSort?: (sort: Sort) => void
  /** Shown in the place of rows when there are none. */
  readonly empty?: ReactNode
  readonly rowHeight?: number
  /** It is as high as the window leaves room for, but never lower than this. */
  readonly minHeightPx?: number
  /** How much of the page stands below it, with the margin of the page. */
  readonly belowPx?: number
  /** Does what the button does that the row begins with. */
  readonly onRowClick?: (row: T) => void
  /** For a row that is one cell as wide and as high as it needs, such as the details of the row above; undefined for all others. */
  readonly wideContent?: (row: T) => ReactNode
  /** New rows come in above: what somebody is reading further down stays where it is. */
  readonly growsAbove?: boolean
}

/** Until it is measured. */
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
  // Whoever comes back to the list goes on reading where they were.
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

  /** The arrow keys go from row to row, by the link or button that each row begins with. */
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
      // What scrolls must be reachable by keyboard.
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

/** `rowHeight` 0: nothing is held. */
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

/** Not on what has a click of its own, nor at the end of marking some text. */
const isOnRow = ({ target }: MouseEvent): boolean =>
  !(target as HTMLElement).closest('a, button') && getSelection()?.type !== 'Range'

/** Where it begins on the page: what stands above it may wrap, come and go. */
function useTopOffset(scroller: RefObject<HTMLDivElement | null>): number {
  // Rather too low at first: a table that is too high could not scroll to where it was.
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
