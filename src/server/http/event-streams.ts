// Answers that do not end: each reader is given events as fast as it takes them, as long as it may read. [contract 6.events]
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Event, heartbeatMs, reconnectAfterMs } from '../../contract/events.ts'
import type { Caller } from '../auth/keyring.ts'
import { type Clock, isoTime } from '../core/clock.ts'
import { Failure, shuttingDown } from '../core/failure.ts'
import { type EventChannel, eventFrame } from '../events/channel.ts'
import type { EventFeed } from '../events/feed.ts'
import type { EventFilter } from '../events/filter.ts'
import type { RecheckCaller } from './gate.ts'

/** What a rule gives back for an operation that streams. */
export class EventSubscription {
  readonly filter: EventFilter
  readonly lastEventId: string | undefined

  constructor(filter: EventFilter, lastEventId: string | undefined) {
    this.filter = filter
    this.lastEventId = lastEventId
  }
}

const mostStreams = 1000
const mostStreamsOfKey = 50
/** A reader that takes nothing for so long is cut, in milliseconds. */
const longestStall = 30_000
/** How often each caller is asked for again, in calls of `check`. */
const askEvery = 5

/** Named as Fastify names them: in another case they would stand beside what a session's answers have, not in its place. */
const headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
}

/** Whether the caller of a request may still read. */
type IsAlive = () => Promise<boolean>

class Stream {
  readonly caller: Caller
  readonly isAlive: IsAlive
  readonly out: ServerResponse
  readonly channel: EventChannel
  readonly filter: EventFilter
  /** Everything up to here was given to it, or is not for it. */
  position: number
  writtenAt: number
  /** Since when it takes nothing. */
  stalledAt: number | undefined
  unfollow: () => void = () => {}

  constructor(
    caller: Caller,
    isAlive: IsAlive,
    out: ServerResponse,
    channel: EventChannel,
    filter: EventFilter,
    now: number,
  ) {
    this.caller = caller
    this.isAlive = isAlive
    this.out = out
    this.channel = channel
    this.filter = filter
    this.position = channel.position
    this.writtenAt = now
  }
}

export class EventStreams {
  readonly #feed: EventFeed
  readonly #clock: Clock
  readonly #streams = new Set<Stream>()
  #isClosed = false
  #checks = 0
  /** Since the start, for whoever watches. */
  sent = 0
  cut = 0

  constructor(feed: EventFeed, clock: Clock) {
    this.#feed = feed
    this.#clock = clock
  }

  get open(): number {
    return this.#streams.size
  }

  answer(request: FastifyRequest, reply: FastifyReply, subscription: EventSubscription, askAgain: RecheckCaller): void {
    const { filter, lastEventId } = subscription
    const caller = request.caller as Caller
    const isAlive = async () => (await askAgain(request))?.read === true
    this.#checkRoom(caller)
    const { raw: out } = reply.hijack()
    // Who left while the key was looked up has closed already, and would take a place that nobody gives back.
    if (out.destroyed) return
    out.writeHead(200, { ...reply.getHeaders(), ...headers } as Record<string, string>)
    if (request.method === 'HEAD') {
      out.end()
      return
    }
    const stream = new Stream(caller, isAlive, out, this.#feed.channel(caller.org.key), filter, this.#clock.now())
    stream.unfollow = stream.channel.follow(() => this.#give(stream))
    this.#streams.add(stream)
    // Whoever is gone does not hear why.
    out.on('error', () => {})
    out.once('close', () => this.#forget(stream))
    out.on('drain', () => {
      stream.stalledAt = undefined
      this.#give(stream)
    })
    const header = request.headers['last-event-id']
    this.#begin(stream, typeof header === 'string' ? header : lastEventId)
    this.#give(stream)
  }

  /** To be called every second. */
  async check(): Promise<void> {
    const now = this.#clock.now()
    for (const stream of this.#streams) {
      const { caller, stalledAt, writtenAt, channel } = stream
      if (caller.expiresAt !== null && caller.expiresAt <= now) this.#end(stream)
      else if (stalledAt !== undefined) {
        if (now - stalledAt >= longestStall) this.#cut(stream)
      } else if (now - writtenAt >= heartbeatMs) {
        // With the position: who chose little and comes back goes on from here, not from the last event it saw.
        this.#write(stream, `: still here\nid: ${channel.idAt(stream.position)}\n\n`)
      }
    }
    this.#feed.dropIdle()
    if (++this.#checks % askEvery === 0) await this.recheckCallers()
  }

  /** Ends those whose key was revoked or whose session ended. */
  async recheckCallers(): Promise<void> {
    await Promise.all([...this.#streams].map((stream) => this.#ask(stream)))
  }

  /** Also refuses new ones: who stops does not wait for what does not end. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const stream of this.#streams) this.#end(stream)
    await this.#feed.close()
  }

  #checkRoom({ org, keyId }: Caller): void {
    if (this.#isClosed) throw shuttingDown()
    if (this.#streams.size >= mostStreams) throw tooMany(`${mostStreams} streams of events are open`)
    let own = 0
    for (const { caller } of this.#streams) if (caller.keyId === keyId && caller.org.key === org.key) own++
    if (own >= mostStreamsOfKey) throw tooMany(`This key has ${mostStreamsOfKey} streams of events open`)
  }

  /** The first block says where the reader is, so that it can come back before anything has happened. */
  #begin(stream: Stream, lastEventId: string | undefined): void {
    const { channel } = stream
    const known = lastEventId === undefined ? channel.position : channel.positionOf(lastEventId)
    const hello = `: roomkeeper events\nretry: ${reconnectAfterMs}\n`
    if (known !== undefined) {
      stream.position = known
      this.#write(stream, `${hello}id: ${channel.idAt(known)}\n\n`)
      return
    }
    // Its id comes with the event: who does not get that far is told again.
    const reset: Event = { type: 'reset', at: isoTime(this.#clock.now()), roomIds: [] }
    this.#write(stream, `${hello}\n`)
    this.#write(stream, eventFrame(channel.idAt(stream.position), reset))
    this.sent++
  }

  /** Only what the reader takes is given to it: what it did not get yet is in the channel, once for all. */
  #give(stream: Stream): void {
    const { channel, filter } = stream
    if (!channel.has(stream.position)) {
      this.#cut(stream)
      return
    }
    while (stream.stalledAt === undefined && stream.position < channel.position) {
      const { bytes, events, to } = channel.read(stream.position, filter)
      stream.position = to
      if (events > 0) this.#write(stream, bytes)
      this.sent += events
    }
  }

  #write(stream: Stream, bytes: Buffer | string): void {
    stream.writtenAt = this.#clock.now()
    if (!stream.out.write(bytes)) stream.stalledAt ??= stream.writtenAt
  }

  /** It may come back, and go on as far as that is possible. */
  #cut(stream: Stream): void {
    this.cut++
    this.#forget(stream)
    stream.out.destroy()
  }

  /** Who takes nothing would not let go either. */
  #end(stream: Stream): void {
    this.#forget(stream)
    if (stream.stalledAt === undefined) stream.out.end()
    else stream.out.destroy()
  }

  #forget(stream: Stream): void {
    stream.unfollow()
    this.#streams.delete(stream)
  }

  async #ask(stream: Stream): Promise<void> {
    try {
      if (!(await stream.isAlive()) && this.#streams.has(stream)) this.#end(stream)
    } catch {
      // The database is away, and so is everything that could be told. It is asked again soon.
    }
  }
}

const tooMany = (what: string): Failure =>
  new Failure('RESOURCE_EXHAUSTED', `${what}. Close one, or try again in a minute.`, {
    headers: { 'Retry-After': '60' },
  })
