// The keys of a table: arrows move between rows, Space selects a row, and arrows with Shift select a range.
import type { Virtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type RefObject, useEffect, useRef } from 'react'
import { useKeptValue } from '../page/kept-state.ts'
import type { RowKey, RowSelection } from './row-selection.ts'

interface KeyedTable {
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly virtual: Virtualizer<HTMLDivElement, Element>
  readonly count: number
  /** Undefined for the heading of a group. */
  readonly keyAt: (index: number) => RowKey | undefined
  readonly selection: RowSelection | undefined
}

export function handleTableKey(event: KeyboardEvent, table: KeyedTable): void {
  const target = event.target as HTMLElement
  const index = rowIndexOf(target)
  if (index === undefined) return
  const { selection, keyAt } = table
  // Space operates a checkbox or a button; on a link it does nothing.
  const key = keyAt(index)
  if (event.key === ' ' && selection && key !== undefined && target.tagName === 'A') {
    event.preventDefault()
    if (event.shiftKey) selection.extend(key, key)
    else selection.toggle(key)
    return
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (!step) return
  event.preventDefault()
  const next = index + step
  if (next < 0 || next >= table.count) return
  const nextKey = keyAt(next)
  if (event.shiftKey && selection && key !== undefined && nextKey !== undefined) selection.extend(key, nextKey)
  const isOnCheckbox = target.getAttribute('type') === 'checkbox'
  focusRow(table, next, isOnCheckbox ? '[type="checkbox"]' : ':is(a, button)')
}

/** The position of the row that has the element; undefined outside of the rows. */
export function rowIndexOf(element: Element): number | undefined {
  const index = element.closest('[data-index]')?.getAttribute('data-index')
  return index == null ? undefined : Number(index)
}

/**
 * Returns a function that keeps the row that has the focus. When the user comes back to the list, the row's link has the focus again,
 * unless another element than the title of the page has it by then.
 */
export function useFocusedRow(
  list: string,
  scroller: RefObject<HTMLDivElement | null>,
  virtual: Virtualizer<HTMLDivElement, Element>,
  indexOf: (key: RowKey) => number,
): (key: RowKey) => void {
  const [left, keep] = useKeptValue<RowKey>(`focused ${list}`)
  const isReturning = useRef(left !== undefined)
  useEffect(() => {
    if (left === undefined || !isReturning.current) return
    const index = indexOf(left)
    if (index < 0) return
    isReturning.current = false
    // The page gives the focus to its title first.
    requestAnimationFrame(() => {
      const { activeElement } = document
      if (activeElement === null || activeElement.matches('body, h1')) {
        focusRow({ virtual, scroller }, index, ':is([data-row-link], a, button)')
      }
    })
  }, [left, indexOf, virtual, scroller])
  return keep
}

/** A row that is out of view must be rendered first. */
function focusRow({ virtual, scroller }: Pick<KeyedTable, 'virtual' | 'scroller'>, index: number, what: string): void {
  virtual.scrollToIndex(index)
  requestAnimationFrame(() => {
    scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"] ${what}`)?.focus({ preventScroll: true })
  })
}
