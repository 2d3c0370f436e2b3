// The state of the connection to the server, and when the server was last heard.
import { useSyncExternalStore } from 'react'

export interface LiveState {
  readonly state: 'connecting' | 'live' | 'lost'
  readonly sinceMs: number
}

let live: LiveState = { state: 'connecting', sinceMs: Date.now() }
/** Kept outside the state: it changes with every event, and components must not render that often. */
let heardMs = Date.now()
const listeners = new Set<() => void>()

export const liveState = (): LiveState => live
export function setLiveState(next: LiveState): void {
  live = next
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
export const useLiveState = (): LiveState => useSyncExternalStore(subscribe, liveState)

/** The server sent an event, or a sign of life: the page shows what was true at this time. */
export const markHeard = (atMs = Date.now()): void => {
  heardMs = atMs
}
export const lastHeardMs = (): number => heardMs
