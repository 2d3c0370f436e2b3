// The keys of a table: arrows move between rows, Space selects a row, and arrows with Shift select a range.
import type { Virtualizer } from '@tanstack/react-virtual'
import type { KeyboardEvent, RefObject } from 'react'
import type { RowKey, RowSelection } from './row-selection.ts'

interface KeyedTable {
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly virtual: Virtualizer<HTMLDivElement, Element>
  readonly count: number
  readonly keyAt: (index: number) => RowKey
  readonly selection: RowSelection | undefined
}

export function handleTableKey(event: KeyboardEvent, table: KeyedTable): void {
  const target = event.target as HTMLElement
  const index = Number(target.closest('[data-index]')?.getAttribute('data-index') ?? Number.NaN)
  if (Number.isNaN(index)) return
  const { selection, keyAt } = table
  // Space operates a checkbox or a button; on a link it does nothing.
  if (event.key === ' ' && selection && target.tagName === 'A') {
    event.preventDefault()
    if (event.shiftKey) selection.extend(keyAt(index), keyAt(index))
    else selection.toggle(keyAt(index))
    return
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (!step) return
  event.preventDefault()
  const next = index + step
  if (next < 0 || next >= table.count) return
  if (event.shiftKey && selection) selection.extend(keyAt(index), keyAt(next))
  const isOnCheckbox = target.getAttribute('type') === 'checkbox'
  focusRow(table, next, isOnCheckbox ? '[type="checkbox"]' : ':is(a, button)')
}

/** A row that is out of view must be rendered first. */
function focusRow({ virtual, scroller }: KeyedTable, index: number, what: string): void {
  virtual.scrollToIndex(index)
  requestAnimationFrame(() => {
    scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"] ${what}`)?.focus({ preventScroll: true })
  })
}
