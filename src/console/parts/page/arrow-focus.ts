// Arrow keys move the focus among many links of which only one is a tab stop.
import type { KeyboardEvent } from 'react'

/** Moves among the elements that match the selector, by what is seen: up and down go to the nearest one of the next line. */
export function moveFocus(event: KeyboardEvent<HTMLElement>, selector: string): void {
  const from = (event.target as Element).closest<HTMLElement>(selector)
  if (!from) return
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>(selector)]
  const next = nextElement(event.key, all, from)
  if (!next) return
  event.preventDefault()
  next.focus()
}

function nextElement(key: string, all: readonly HTMLElement[], from: HTMLElement): HTMLElement | undefined {
  const at = all.indexOf(from)
  if (key === 'ArrowRight') return all[at + 1]
  if (key === 'ArrowLeft') return all[at - 1]
  if (key === 'Home') return all[0]
  if (key === 'End') return all.at(-1)
  const direction = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
  if (direction === 0) return undefined
  const own = from.getBoundingClientRect()
  let best: HTMLElement | undefined
  let [bestLine, bestOffset] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (const one of all) {
    const { top, left } = one.getBoundingClientRect()
    const line = (top - own.top) * direction
    const offset = Math.abs(left - own.left)
    if (line < 1 || line > bestLine || (line === bestLine && offset >= bestOffset)) continue
    best = one
    ;[bestLine, bestOffset] = [line, offset]
  }
  return best
}
