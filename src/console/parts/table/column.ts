// Describes a column of a table.
import type { ReactNode } from 'react'
import type { SortKey } from './sorting.ts'

/** The details below a row of a table that has them. */
export interface RowDetails {
  readonly isOpen: boolean
  /** The id of the element with the details. */
  readonly id: string
  readonly toggle: () => void
}

export interface Column<T> {
  readonly id: string
  readonly title: string
  /** A track size of grid-template-columns in a long table, such as "2fr" or "120px"; else a width, if the content does not decide it. */
  readonly width?: string
  readonly cell: (row: T, details: RowDetails) => ReactNode
  /** The text of the cell in an exported file; a column without it is left out. */
  readonly text?: (row: T) => string
  /** Whether the cell shows a value; needed if that is not whether it has a text in an exported file. */
  readonly hasValue?: (row: T) => boolean
  /** The heading is a button that sorts by this value. */
  readonly sortValue?: SortKey<T>
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean
  /** Long words such as names and addresses are broken, so the column can be narrower than they are. */
  readonly breaksWords?: boolean
  /** The column has buttons: cards show it without its title, and it is neither printed nor in the menu of columns. */
  readonly isControl?: boolean
  /** False for cells that read more from the server, which would delay the print. */
  readonly isPrinted?: boolean
  /**
   * Shown by default only in a window of at least 1200 px (medium), 1600 px (wide), 1920 px (full) or 2240 px (extra: neither in print nor
   * in exported files), or only in print and exported files (file).
   */
  readonly from?: 'medium' | 'wide' | 'full' | 'extra' | 'file'
  /** No row has a value: the column is in exported files only. A choice of columns has it all the same, because rows get values. */
  readonly isEmpty?: boolean
  /** The place in a card: the heading (the first column, unless another one says so), or the corner. Other columns follow with their titles. */
  readonly inCard?: 'heading' | 'corner'
}

/** Without a text and `hasValue` it is not known which cells are empty. */
export const hasValueIn = <T>({ text, hasValue = text && ((row) => text(row) !== '') }: Column<T>, row: T): boolean =>
  !hasValue || hasValue(row)

/** Marks the columns, except the first, in which no row has a value: other columns get their width. */
export const markEmptyColumns = <T>(columns: readonly Column<T>[], rows: readonly T[]): readonly Column<T>[] =>
  rows.length === 0
    ? columns
    : columns.map((column, index) =>
        index === 0 || rows.some((row) => hasValueIn(column, row)) ? column : { ...column, isEmpty: true },
      )

const cardOrder = { heading: 0, corner: 1, line: 2 } as const
type CardPlace = keyof typeof cardOrder

export interface PlacedColumn<T> {
  readonly column: Column<T>
  readonly place: CardPlace
}

/** The columns in the order in which a card has them. */
export function placeInCard<T>(columns: readonly Column<T>[]): readonly PlacedColumn<T>[] {
  const heading = columns.find(({ inCard }) => inCard === 'heading') ?? columns[0]
  const placeOf = (column: Column<T>): CardPlace =>
    column === heading ? 'heading' : column.inCard === 'corner' ? 'corner' : 'line'
  return columns
    .map((column) => ({ column, place: placeOf(column) }))
    .sort((a, b) => cardOrder[a.place] - cardOrder[b.place])
}

/** The id of a row, for exported files: programs that read them find the row by it. */
export const idColumn = <T>(idOf: (row: T) => string | number): Column<T> => {
  const text = (row: T) => String(idOf(row))
  return { id: 'id', title: 'ID', width: 'minmax(84px, 1fr)', from: 'file', isPrinted: false, text, cell: text }
}
