// One stream of events for the whole browser: the tab that holds the lock reads it and tells the others. [contract 6.events]
import { useSyncExternalStore } from 'react'
import { ApiError, type Client } from '../../client/client.ts'
import { endSession } from '../session.ts'
import { invalidateFor, type LiveEvent } from './invalidate.ts'

export interface LiveState {
  readonly state: 'connecting' | 'live' | 'lost'
  /** Since when, in milliseconds. */
  readonly since: number
}

type TabMessage =
  | { readonly kind: 'event'; readonly id: string; readonly event: LiveEvent }
  | { readonly kind: 'live'; readonly live: LiveState; readonly id: string | undefined }
  | { readonly kind: 'question' }
  | { readonly kind: 'signed-out'; readonly why: string }

let live: LiveState = { state: 'connecting', since: Date.now() }
const listeners = new Set<() => void>()
const setLive = (next: LiveState) => {
  live = next
  for (const listener of listeners) listener()
}

export const useLiveState = (): LiveState =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => live,
  )

const longestPause = 30_000

/** Follows until it is stopped. A page that the browser keeps for going back stops too: its lock would shut all others out. */
export function followEvents(client: Client, org: string): () => void {
  let stop = follow(client, org)
  const leave = () => stop()
  const comeBack = ({ persisted }: PageTransitionEvent) => {
    if (persisted) stop = follow(client, org)
  }
  addEventListener('pagehide', leave)
  addEventListener('pageshow', comeBack)
  return () => {
    removeEventListener('pagehide', leave)
    removeEventListener('pageshow', comeBack)
    stop()
  }
}

/** Every tab remembers the last event, so that whoever reads next goes on from there. */
function follow(client: Client, org: string): () => void {
  const stopped = new AbortController()
  const { signal } = stopped
  const channel = new BroadcastChannel(`roomkeeper ${org}`)
  let last: string | undefined
  let isReader = false
  setLive({ state: 'connecting', since: Date.now() })

  /** What was read before the first moment that it is live may be old already. */
  const opened = () => {
    if (last === undefined) invalidateFor({ type: 'reset', roomIds: [] })
  }
  const become = (state: LiveState['state']) => {
    if (live.state !== state) setLive({ state, since: Date.now() })
    channel.postMessage({ kind: 'live', live, id: last } satisfies TabMessage)
  }
  const end = (why: string) => {
    channel.postMessage({ kind: 'signed-out', why } satisfies TabMessage)
    endSession(why)
  }
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data.kind === 'question') {
      if (isReader) channel.postMessage({ kind: 'live', live, id: last } satisfies TabMessage)
    } else if (data.kind === 'signed-out') endSession(data.why)
    else if (data.kind === 'live') {
      if (data.live.state === 'live') opened()
      last = data.id ?? last
      setLive(data.live)
    } else {
      last = data.id
      invalidateFor(data.event)
    }
  }

  const read = async () => {
    const onOpen = () => {
      opened()
      become('live')
    }
    const stream = client.eventsStream({}, { lastEventId: last, signal, onOpen })
    try {
      for await (const { id, event } of stream) {
        last = id
        channel.postMessage({ kind: 'event', id, event } satisfies TabMessage)
        invalidateFor(event)
      }
    } finally {
      // Also when nothing has happened yet there is a place to go on from.
      last = stream.lastEventId ?? last
    }
  }

  const readForever = async () => {
    isReader = true
    let failures = 0
    while (!signal.aborted) {
      const began = Date.now()
      try {
        await read()
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof ApiError && error.status === 401) return end(error.message)
        // Another tab has signed in to another organisation: this one shows what no longer is its own.
        if (error instanceof ApiError && error.status === 404) return location.reload()
      }
      if (signal.aborted) return
      become('lost')
      failures = Date.now() - began > 10_000 ? 0 : failures + 1
      const pause = Math.min(longestPause, 500 * 2 ** failures)
      await sleepUntilOnline(pause / 2 + Math.random() * (pause / 2), signal)
    }
  }

  channel.postMessage({ kind: 'question' } satisfies TabMessage)
  navigator.locks.request(`roomkeeper events ${org}`, { signal }, readForever).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
  return () => {
    stopped.abort()
    channel.close()
  }
}

/** Sleeps, but not past the moment that the network comes back. */
const sleepUntilOnline = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer)
      removeEventListener('online', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    addEventListener('online', done)
    signal.addEventListener('abort', done)
  })
