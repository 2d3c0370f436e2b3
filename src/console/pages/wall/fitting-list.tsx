// A list that shows as many of its items as fit its height. A screen on a wall cannot be scrolled.
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import classes from './wall.module.css'

/** No screen has space for more items in large type, so further ones are not laid out. */
const maxItems = 100

interface FittingListProps {
  readonly children: readonly ReactNode[]
  /** Receives how many items are shown. */
  readonly onFit: (count: number) => void
}

/** Items that would be cut are hidden. They keep their height, so the next measurement finds the same heights. */
export function FittingList({ children, onFit }: FittingListProps) {
  const list = useRef<HTMLUListElement>(null)
  useLayoutEffect(() => onFit(hideCutItems(list.current)))
  useEffect(() => {
    const observer = new ResizeObserver(() => onFit(hideCutItems(list.current)))
    if (list.current) observer.observe(list.current)
    return () => observer.disconnect()
  }, [onFit])
  return (
    <ul ref={list} className={classes.fitting}>
      {children.slice(0, maxItems)}
    </ul>
  )
}

function hideCutItems(list: HTMLUListElement | null): number {
  if (!list) return 0
  const items = [...list.children] as HTMLElement[]
  // Heights are fractions of pixels, and their sum can be one pixel too large.
  const end = list.getBoundingClientRect().bottom + 1
  const firstCut = items.findIndex((item) => item.getBoundingClientRect().bottom > end)
  const count = firstCut === -1 ? items.length : firstCut
  for (const [i, item] of items.entries()) item.style.visibility = i < count ? '' : 'hidden'
  return count
}
