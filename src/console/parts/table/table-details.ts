// Which rows of a table are open and show their details.
import { type ReactNode, useCallback, useId, useMemo, useState } from 'react'
import type { RowDetails } from './column.ts'
import type { RowKey } from './row-selection.ts'

export interface TableDetails<T> {
  /** Undefined for a table whose rows have no details. */
  readonly content: ((row: T) => ReactNode) | undefined
  readonly opened: ReadonlySet<RowKey>
  readonly of: (row: T) => RowDetails
}

export function useTableDetails<T>(
  keyOf: (row: T) => RowKey,
  content: ((row: T) => ReactNode) | undefined,
): TableDetails<T> {
  const [opened, setOpened] = useState<ReadonlySet<RowKey>>(new Set())
  const id = useId()
  const toggle = useCallback((key: RowKey) => setOpened((old) => old.symmetricDifference(new Set([key]))), [])
  return useMemo(
    () => ({
      content,
      opened,
      of: (row) => {
        const key = keyOf(row)
        return { isOpen: opened.has(key), id: `${id}-${key}`, toggle: () => toggle(key) }
      },
    }),
    [content, opened, keyOf, id, toggle],
  )
}
