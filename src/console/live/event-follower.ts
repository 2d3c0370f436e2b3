// Follows the event stream once for the whole browser: the tab that holds a lock reads it and broadcasts to the others. [contract 6.events]
import { useSyncExternalStore } from 'react'
import { backOffMs } from '../../client/back-off.ts'
import { ApiError, type Client } from '../../client/client.ts'
import { endSession } from '../session.ts'
import { reloadIfAccessChanged } from './access-change.ts'
import { invalidateFor, type LiveEvent } from './invalidate.ts'

export interface LiveState {
  readonly state: 'connecting' | 'live' | 'lost'
  readonly sinceMs: number
}

type TabMessage =
  | { readonly kind: 'event'; readonly id: string; readonly event: LiveEvent }
  | { readonly kind: 'state'; readonly live: LiveState; readonly id: string | undefined }
  | { readonly kind: 'state-request' }
  | { readonly kind: 'signed-out'; readonly reason: string }

let live: LiveState = { state: 'connecting', sinceMs: Date.now() }
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

const reconnectBackOff = { firstMs: 500, maxMs: 30_000 }
/** A connection that lasted this long counts as a success, so the next wait is short again. */
const stableConnectionMs = 10_000

/** Follows until it is stopped. A page in the back/forward cache stops too, because its lock would keep every other tab from reading. */
export function followEvents(client: Client, org: string): () => void {
  let stop = follow(client, org)
  const pause = () => stop()
  const resume = ({ persisted }: PageTransitionEvent) => {
    if (persisted) stop = follow(client, org)
  }
  addEventListener('pagehide', pause)
  addEventListener('pageshow', resume)
  return () => {
    removeEventListener('pagehide', pause)
    removeEventListener('pageshow', resume)
    stop()
  }
}

/** Every tab remembers the last event id, so that the tab that reads next can resume from there. */
function follow(client: Client, org: string): () => void {
  const stopped = new AbortController()
  const { signal } = stopped
  const channel = new BroadcastChannel(`roomkeeper ${org}`)
  let lastEventId: string | undefined
  let isReader = false
  setLive({ state: 'connecting', sinceMs: Date.now() })

  /** Answers that were fetched before the stream opened may be out of date already. */
  const refetchIfFirst = () => {
    if (lastEventId === undefined) invalidateFor({ type: 'reset', roomIds: [] })
  }
  /** The server ends the stream when role or regions of its caller change. [contract 11.access] */
  const checkAccess = (next: LiveState['state']) => {
    if (live.state === 'lost' && next === 'live') void reloadIfAccessChanged()
  }
  const publishState = (state: LiveState['state']) => {
    checkAccess(state)
    if (live.state !== state) setLive({ state, sinceMs: Date.now() })
    channel.postMessage({ kind: 'state', live, id: lastEventId } satisfies TabMessage)
  }
  const end = (reason: string) => {
    channel.postMessage({ kind: 'signed-out', reason } satisfies TabMessage)
    endSession(reason)
  }
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data.kind === 'state-request') {
      if (isReader) channel.postMessage({ kind: 'state', live, id: lastEventId } satisfies TabMessage)
    } else if (data.kind === 'signed-out') endSession(data.reason)
    else if (data.kind === 'state') {
      if (data.live.state === 'live') refetchIfFirst()
      lastEventId = data.id ?? lastEventId
      checkAccess(data.live.state)
      setLive(data.live)
    } else {
      lastEventId = data.id
      invalidateFor(data.event)
    }
  }

  const read = async () => {
    const onOpen = () => {
      refetchIfFirst()
      publishState('live')
    }
    const stream = client.eventsStream({}, { lastEventId, signal, onOpen })
    try {
      for await (const { id, event } of stream) {
        lastEventId = id
        channel.postMessage({ kind: 'event', id, event } satisfies TabMessage)
        invalidateFor(event)
      }
    } finally {
      // The stream has a position to resume from even if no event has arrived yet.
      lastEventId = stream.lastEventId ?? lastEventId
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
        // Another tab has signed in to another organisation, so this page must be loaded again.
        if (error instanceof ApiError && error.status === 404) return location.reload()
      }
      if (signal.aborted) return
      publishState('lost')
      failures = Date.now() - began > stableConnectionMs ? 0 : failures + 1
      await sleepUntilOnline(backOffMs(failures, reconnectBackOff), signal)
    }
  }

  channel.postMessage({ kind: 'state-request' } satisfies TabMessage)
  navigator.locks.request(`roomkeeper events ${org}`, { signal }, readForever).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
  return () => {
    stopped.abort()
    channel.close()
  }
}

/** Sleeps, but wakes up early when the network comes back. */
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
