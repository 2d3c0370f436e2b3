// Keeps the scroll position of a long table, and its height in the window.
import { type RefObject, useLayoutEffect, useRef, useState } from 'react'

/** Keeps the visible rows in place when rows are added at the top; a `rowHeight` of 0 turns it off. */
export function useStableScroll<T>(
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

/** The table's offset from the top of the page, which changes when the content above it wraps or changes. */
export function useTopOffset(scroller: RefObject<HTMLDivElement | null>): number {
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
