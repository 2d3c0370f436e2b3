// The long form of a table: it fills the window and renders only the visible rows, for lists of tens of thousands.
// biome-ignore-all lint/a11y/useSemanticElements: rows are positioned by their offset, which the rows of a table element cannot be
// biome-ignore-all lint/a11y/useFocusableInteractive: the links and buttons in the cells take the focus
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the button in the row does the same by keyboard
import { Box } from '@mantine/core'
import { useElementScrollRestoration } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type MouseEvent, type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import { useKeptState } from '../page/kept-state.ts'
import { CardCells } from './card-cells.tsx'
import type { Column } from './column.ts'
import classes from './data-table.module.css'
import { rowHeightOf, useDensity } from './density.ts'
import { GroupHeading } from './group-heading.tsx'
import { TableHeadRow } from './head-row.tsx'
import type { RowKey, RowSelection } from './row-selection.ts'
import { SelectAllCell, SelectCell } from './select-cell.tsx'
import type { Sort } from './sorting.ts'
import type { TableDetails } from './table-details.ts'
import { type RowGroup, type TableItem, tableItems } from './table-items.ts'
import { handleTableKey, rowIndexOf, useFocusedRow } from './table-keys.ts'
import { useStableScroll, useTopOffset } from './table-scroll.ts'

/** The measures of a long table, and what can be selected in it. */
export interface VirtualOptions<T> {
  /** The height of a comfortable row; 44 has one line of text. Compact rows are lower. */
  readonly rowHeight?: number
  /** The table fills the height of the window, but is never lower than this. */
  readonly minHeightPx?: number
  /** The height of the content below the table, including the margin of the page. */
  readonly belowPx?: number
  /** Each row gets a checkbox, which is named after the row. */
  readonly selection?: TableSelection<T> | undefined
  /** New rows are added at the top; the scroll position then follows the rows that the user reads. */
  readonly growsAbove?: boolean
  /** Called when the last row comes into view, to read more rows. */
  readonly onEnd?: (() => void) | undefined
  /** The group of a row. Without it the table has no groups. */
  readonly groupOf?: ((row: T) => RowGroup) | undefined
}

export interface TableSelection<T> {
  readonly rows: RowSelection
  readonly nameOf: (row: T) => string
  /** The selected rows, including those that the filters hide. */
  readonly selected: readonly T[]
  /** The buttons of the actions for selected rows. */
  readonly actions: ReactNode
}

interface VirtualTableProps<T> extends VirtualOptions<T> {
  readonly label: string
  readonly rows: readonly T[]
  readonly columns: readonly Column<T>[]
  readonly keyOf: (row: T) => RowKey
  readonly sort: Sort | undefined
  readonly onSort: ((sort: Sort) => void) | undefined
  readonly empty: ReactNode
  readonly isCards: boolean
  readonly details: TableDetails<T>
  /** A table that is wider than the window scrolls sideways; its rows are never narrower than this. */
  readonly minWidthPx: number | undefined
}

/** The estimated height until the row is measured. */
const wideRowHeightPx = 240
const cardHeightPx = 104
const pageMarginPx = 20
const noneClosed: ReadonlySet<RowKey> = new Set()
/** The bar with the actions, at the lower edge of a phone. */
const selectionBarPx = 52

export function VirtualTable<T>(props: VirtualTableProps<T>) {
  const {
    label,
    rows,
    columns,
    keyOf,
    sort,
    onSort,
    empty,
    minWidthPx = 640,
    minHeightPx = 360,
    belowPx = pageMarginPx,
    growsAbove = false,
    onEnd,
    selection,
    groupOf,
    isCards,
    details,
  } = props
  const [density] = useDensity()
  const lineHeight = rowHeightOf(density, 44)
  const rowHeight = rowHeightOf(density, props.rowHeight ?? 44)
  const { content, opened, of: detailsOf } = details
  const [closed, setClosed] = useKeptState(`closed groups of ${label}`, noneClosed)
  const items = useMemo(
    () => tableItems(rows, { keyOf, opened, groupOf, closed }),
    [rows, keyOf, opened, groupOf, closed],
  )
  const itemAt = (index: number) => items[index] as TableItem<T>
  const rowKeyAt = (index: number): RowKey | undefined => {
    const item = itemAt(index)
    return item.kind === 'heading' ? undefined : keyOf(item.row)
  }
  const scroller = useRef<HTMLDivElement>(null)
  const top = useTopOffset(scroller)
  // Restores the scroll position when the user navigates back to the list.
  const left = useElementScrollRestoration({ id: label })
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => {
      const { kind } = itemAt(index)
      return kind === 'details' ? wideRowHeightPx : kind === 'heading' ? lineHeight : isCards ? cardHeightPx : rowHeight
    },
    overscan: 8,
    initialOffset: left?.scrollY ?? 0,
    getItemKey: (index) => {
      const item = itemAt(index)
      if (item.kind === 'heading') return `group ${item.group.key}`
      return item.kind === 'details' ? `${keyOf(item.row)} details` : keyOf(item.row)
    },
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height are measured again
  useLayoutEffect(() => virtual.measure(), [rowHeight, isCards])
  useStableScroll(scroller, rows, keyOf, growsAbove ? rowHeight : 0)
  const keepRow = useFocusedRow(
    label,
    scroller,
    virtual,
    useCallback((key) => items.findIndex((item) => item.kind === 'row' && keyOf(item.row) === key), [items, keyOf]),
  )
  const isAtEnd = items.length > 0 && virtual.getVirtualItems().at(-1)?.index === items.length - 1
  useEffect(() => {
    if (isAtEnd) onEnd?.()
  }, [isAtEnd, onEnd])
  const template = [...(selection ? ['24px'] : []), ...columns.map(({ width = '1fr' }) => width)].join(' ')
  const hasSelectionBar = isCards && selection !== undefined && selection.rows.keys.size > 0
  const below = hasSelectionBar ? belowPx + selectionBarPx : belowPx
  const rowStyle = isCards ? {} : { gridTemplateColumns: template, minWidth: minWidthPx }

  return (
    <Box
      ref={scroller}
      role="table"
      aria-label={label}
      data-grouped={groupOf !== undefined || undefined}
      aria-rowcount={items.length + 1}
      aria-colcount={columns.length + (selection ? 1 : 0)}
      // A scrollable element must be reachable by keyboard.
      tabIndex={0}
      className={classes.scroller}
      data-density={density}
      style={{ maxHeight: `max(${minHeightPx}px, calc(100dvh - ${top + below}px))` }}
      data-scroll-restoration-id={label}
      onFocus={({ target }) => {
        const index = rowIndexOf(target)
        const key = index === undefined ? undefined : rowKeyAt(index)
        if (key !== undefined) keepRow(key)
      }}
      onKeyDown={(event) =>
        handleTableKey(event, {
          ...{ scroller, virtual, count: items.length, selection: selection?.rows },
          keyAt: rowKeyAt,
        })
      }
    >
      <TableHeadRow
        columns={columns}
        sort={sort}
        onSort={onSort}
        style={rowStyle}
        selectCell={selection && <SelectAllCell selection={selection.rows} isHidden={isCards} />}
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
          const shown = itemAt(item.index)
          const transform = `translateY(${item.start}px)`
          if (shown.kind === 'heading') {
            const { key } = shown.group
            return (
              <div
                key={item.key}
                role="row"
                aria-rowindex={item.index + 2}
                data-index={item.index}
                className={`${classes.item} ${classes.groupRow}`}
                data-card={isCards || undefined}
                style={{ transform, height: lineHeight, ...(!isCards && { minWidth: minWidthPx }) }}
              >
                <GroupHeading
                  item={shown}
                  selection={selection?.rows}
                  columnCount={columns.length}
                  onToggle={() => setClosed((old) => old.symmetricDifference(new Set([key])))}
                />
              </div>
            )
          }
          const { row } = shown
          const isDetails = shown.kind === 'details'
          const ofRow = detailsOf(row)
          return (
            <div
              key={item.key}
              {...((isDetails || isCards) && { ref: virtual.measureElement })}
              {...(isDetails && { id: ofRow.id })}
              role="row"
              aria-rowindex={item.index + 2}
              data-index={item.index}
              {...(content &&
                !isDetails && { 'data-clickable': true, onClick: (event) => isOnRow(event) && ofRow.toggle() })}
              {...(!isDetails && selection?.rows.keys.has(keyOf(row)) && { 'data-selected': true })}
              className={`${classes.item} ${isDetails ? classes.wide : isCards ? classes.card : classes.row}`}
              style={{
                transform,
                ...(!isDetails && !isCards && { ...rowStyle, height: rowHeight }),
              }}
            >
              {selection && !isDetails && (
                <SelectCell selection={selection.rows} rowKey={keyOf(row)} name={selection.nameOf(row)} />
              )}
              {isDetails ? (
                <div role="cell" aria-colspan={columns.length}>
                  {content?.(row)}
                </div>
              ) : isCards ? (
                <CardCells columns={columns} row={row} details={ofRow} />
              ) : (
                columns.map((column) => (
                  <div key={column.id} role="cell" className={column.isNumber ? classes.number : classes.cell}>
                    {column.cell(row, ofRow)}
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
