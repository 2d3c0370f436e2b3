// Follows the event stream once for the whole browser: the tab that holds a lock reads it and broadcasts to the others. [contract 6.events]
import { backOffMs } from '../../client/back-off.ts'
import { ApiError, type Client } from '../../client/client.ts'
import { type Event, heartbeatMs } from '../../contract/journal/events.ts'
import { type LiveState, liveState, markHeard, setLiveState } from '../parts/live/live-state.ts'
import { endSession } from '../session.ts'
import { reloadIfAccessChanged } from './access-change.ts'
import { invalidateFor } from './invalidate.ts'
import { readFailedAgain } from './refetch.ts'
import { rowReader } from './row-reader.ts'
import { forgetSamples } from './sample-patches.ts'

type TabMessage =
  | { readonly kind: 'event'; readonly id: string; readonly event: Event }
  | { readonly kind: 'heard'; readonly atMs: number }
  | { readonly kind: 'state'; readonly live: LiveState; readonly id: string | undefined }
  | { readonly kind: 'state-request' }
  | { readonly kind: 'signed-out'; readonly reason: string }

const reconnectBackOff = { firstMs: 500, maxMs: 30_000 }
/** A connection that lasted this long counts as a success, so the next wait is short again. */
const stableConnectionMs = 10_000
/** A stream that is silent for longer is broken, even if the network has not said so: the server sends something every 15 s. */
const maxSilenceMs = 2 * heartbeatMs + 5000
const silenceCheckMs = 5000

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
  setLiveState({ state: 'connecting', sinceMs: Date.now() })

  /** Answers that were fetched before the stream opened may be out of date already. */
  const refetchIfFirst = () => {
    if (lastEventId === undefined) invalidateFor({ type: 'reset', at: new Date().toISOString(), roomIds: [] })
  }
  /** The server ends the stream when role or regions of its caller change. [contract 11.access] Reads may have failed with the stream. */
  const recoverIfLost = (next: LiveState['state']) => {
    if (liveState().state !== 'lost' || next !== 'live') return
    void reloadIfAccessChanged()
    readFailedAgain()
  }
  const publishState = (state: LiveState['state']) => {
    recoverIfLost(state)
    if (liveState().state !== state) setLiveState({ state, sinceMs: Date.now() })
    channel.postMessage({ kind: 'state', live: liveState(), id: lastEventId } satisfies TabMessage)
  }
  const end = (reason: string) => {
    channel.postMessage({ kind: 'signed-out', reason } satisfies TabMessage)
    endSession(reason)
  }
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data.kind === 'state-request') {
      if (isReader) channel.postMessage({ kind: 'state', live: liveState(), id: lastEventId } satisfies TabMessage)
    } else if (data.kind === 'signed-out') endSession(data.reason)
    else if (data.kind === 'heard') markHeard(data.atMs)
    else if (data.kind === 'state') {
      if (data.live.state === 'live') refetchIfFirst()
      lastEventId = data.id ?? lastEventId
      recoverIfLost(data.live.state)
      setLiveState(data.live)
    } else {
      lastEventId = data.id
      invalidateFor(data.event)
    }
  }

  const read = async () => {
    let toldMs = 0
    let heardMs = Date.now()
    const onHeard = () => {
      const atMs = Date.now()
      heardMs = atMs
      markHeard(atMs)
      if (atMs - toldMs < 1000) return
      toldMs = atMs
      channel.postMessage({ kind: 'heard', atMs } satisfies TabMessage)
    }
    const onOpen = () => {
      onHeard()
      refetchIfFirst()
      publishState('live')
    }
    const silent = new AbortController()
    const check = setInterval(() => {
      if (Date.now() - heardMs > maxSilenceMs) silent.abort()
    }, silenceCheckMs)
    const both = AbortSignal.any([signal, silent.signal])
    const stream = client.eventsStream({}, { lastEventId, signal: both, onOpen, onHeard })
    try {
      for await (const { id, event } of stream) {
        lastEventId = id
        channel.postMessage({ kind: 'event', id, event } satisfies TabMessage)
        invalidateFor(event)
      }
    } finally {
      clearInterval(check)
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
    forgetSamples()
    rowReader.stop()
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
