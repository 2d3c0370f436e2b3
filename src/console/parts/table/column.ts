// Describes a column of a table.
import type { ReactNode } from 'react'

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
  /** Shown by default only in a window of at least 1200 px (medium) or 1600 px (wide), or only if it is chosen (never). */
  readonly from?: 'medium' | 'wide' | 'never'
  /** The text of the cell in an exported file; a column without it is left out. */
  readonly text?: (row: T) => string
}
