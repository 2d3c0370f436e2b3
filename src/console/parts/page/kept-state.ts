// State of a page that is there again when the user comes back to it: it is kept for the page's entry in the history of the browser.
import { useRouter } from '@tanstack/react-router'
import { type Dispatch, type SetStateAction, useCallback, useState } from 'react'

/** By the position in the history. */
const kept = new Map<number, Map<string, unknown>>()

/** A page that is opened at a position takes the place of the pages that were there, and after it. */
export function forgetFrom(position: number): void {
  for (const one of kept.keys()) if (one >= position) kept.delete(one)
}

/** The name distinguishes the states of a page. */
export function useKeptState<T>(name: string, initial: T): readonly [T, Dispatch<SetStateAction<T>>] {
  const position = usePosition()
  const [value, setValue] = useState(() => (kept.get(position)?.get(name) as T | undefined) ?? initial)
  const keep = useCallback(
    (action: SetStateAction<T>) =>
      setValue((before) => {
        const next = typeof action === 'function' ? (action as (before: T) => T)(before) : action
        write(position, name, next)
        return next
      }),
    [position, name],
  )
  return [value, keep]
}

/** A value that is kept without rendering. */
export function useKeptValue<T>(name: string): readonly [T | undefined, (value: T) => void] {
  const position = usePosition()
  const [first] = useState(() => kept.get(position)?.get(name) as T | undefined)
  return [first, useCallback((value: T) => write(position, name, value), [position, name])]
}

/** The page's own position: while another page is loaded, the history is already there. */
function usePosition(): number {
  const { history } = useRouter()
  return useState(() => history.location.state.__TSR_index)[0]
}

function write(position: number, name: string, value: unknown): void {
  const states = kept.get(position) ?? new Map<string, unknown>()
  kept.set(position, states.set(name, value))
}
