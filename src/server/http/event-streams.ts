// Serves event streams: each reader receives events as fast as it reads them, for as long as its key is valid. [contract 6.events]
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Event, heartbeatMs, reconnectAfterMs } from '../../contract/journal/events.ts'
import type { Caller } from '../auth/keyring.ts'
import { limitKeyOf } from '../auth/token-holder.ts'
import type { EventSubscription } from '../context/answers.ts'
import { type Clock, isoTime } from '../core/clock.ts'
import { Failure } from '../core/failure.ts'
import type { TimeLimits } from '../core/time-limits.ts'
import type { EventChannel } from '../events/event-channel.ts'
import type { EventFeed } from '../events/feed.ts'
import type { EventFilter } from '../events/filter.ts'
import { eventFrame } from '../events/ring.ts'
import { shuttingDown } from './errors.ts'
import type { RecheckCaller } from './gate.ts'

const maxStreams = 1000
/** All sessions of a key, or of a person, together. */
const maxStreamsPerCaller = 50
/** Every caller is checked again after this many calls of `check`. */
const checksPerRecheck = 5

/** Lower case, as in Fastify: names in another case would not replace the headers that a session's answers have. */
const headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
}

/** Resolves with whether the caller of a request may still read what it may read now. */
type IsAllowed = () => Promise<boolean>

class Stream {
  readonly caller: Caller
  readonly isAllowed: IsAllowed
  readonly out: ServerResponse
  readonly channel: EventChannel
  readonly filter: EventFilter
  /** Everything up to this position was written to it, or does not match its filter. */
  position: number
  writtenAt: number
  /** Set while the reader does not read: the time of the write that it has not read. */
  stalledAt: number | undefined
  unfollow: () => void = () => {}

  constructor(
    caller: Caller,
    isAllowed: IsAllowed,
    out: ServerResponse,
    channel: EventChannel,
    filter: EventFilter,
    now: number,
  ) {
    this.caller = caller
    this.isAllowed = isAllowed
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
  readonly #limits: TimeLimits
  readonly #streams = new Set<Stream>()
  /** The callers whose streams wait until all nodes know that they follow. */
  readonly #opening = new Set<{ readonly caller: Caller }>()
  #isClosed = false
  #checks = 0
  /** Counted since the start, for the metrics. */
  sent = 0
  cut = 0

  constructor(feed: EventFeed, clock: Clock, limits: TimeLimits) {
    this.#feed = feed
    this.#clock = clock
    this.#limits = limits
  }

  get open(): number {
    return this.#streams.size
  }

  /** Returns a promise if the stream begins later, because other nodes must be told first that the organisation is followed. */
  answer(
    request: FastifyRequest,
    reply: FastifyReply,
    subscription: EventSubscription,
    recheck: RecheckCaller,
  ): void | Promise<void> {
    const caller = request.caller as Caller
    this.#checkLimits(caller)
    const isAllowed = async () => {
      const present = await recheck(request)
      return present !== undefined && mayReadAs(caller, present)
    }
    const open = (channel: EventChannel | undefined) =>
      this.#open(request, reply, subscription, { caller, isAllowed, channel })
    const channel = this.#feed.channel(caller.org.key)
    if (channel || request.method === 'HEAD') return open(channel)
    const opening = { caller }
    this.#opening.add(opening)
    const openLater = async () => {
      await this.#feed.follow(caller.org.key)
      // Streams that wait are not rechecked with the others, and the wait may take seconds.
      const stillAllowed = await isAllowed()
      if (this.#isClosed) throw shuttingDown()
      if (!stillAllowed) throw notBegun()
      open(this.#feed.channel(caller.org.key))
    }
    return openLater().finally(() => this.#opening.delete(opening))
  }

  #open(
    request: FastifyRequest,
    reply: FastifyReply,
    { filter, lastEventId }: EventSubscription,
    { caller, isAllowed, channel }: { caller: Caller; isAllowed: IsAllowed; channel: EventChannel | undefined },
  ): void {
    if (!channel && request.method !== 'HEAD') throw notBegun()
    const { raw: out } = reply.hijack()
    // The client may have disconnected while its key was looked up: 'close' was emitted then, and the stream would never be removed.
    if (out.destroyed) return
    out.writeHead(200, { ...reply.getHeaders(), ...headers } as Record<string, string>)
    if (!channel || request.method === 'HEAD') {
      out.end()
      return
    }
    const stream = new Stream(caller, isAllowed, out, channel, filter, this.#clock.now())
    stream.unfollow = stream.channel.follow(() => this.#writeEvents(stream))
    this.#streams.add(stream)
    // A broken connection also emits 'close', which is handled below.
    out.on('error', () => {})
    out.once('close', () => this.#remove(stream))
    out.on('drain', () => {
      stream.stalledAt = undefined
      this.#writeEvents(stream)
    })
    const header = request.headers['last-event-id']
    this.#begin(stream, typeof header === 'string' ? header : lastEventId)
    this.#writeEvents(stream)
  }

  /** Ends, disconnects or sends a heartbeat to streams. Must be called every second. */
  async check(): Promise<void> {
    const now = this.#clock.now()
    for (const stream of this.#streams) {
      const { caller, stalledAt, writtenAt, channel } = stream
      if (caller.expiresAt !== null && caller.expiresAt <= now) this.#end(stream)
      else if (stalledAt !== undefined) {
        if (now - stalledAt >= this.#limits.unreadStreamMs) this.#cut(stream)
      } else if (now - writtenAt >= heartbeatMs) {
        // The heartbeat carries the position: a reader with a narrow filter resumes from here, not from its last event.
        this.#write(stream, `: still here\nid: ${channel.idAt(stream.position)}\n\n`)
      }
    }
    await this.#feed.check()
    if (++this.#checks % checksPerRecheck === 0) await this.recheckCallers()
  }

  /** Ends the streams whose key was revoked or whose session has ended, and those whose caller has another role or other regions now. */
  async recheckCallers(): Promise<void> {
    await Promise.all([...this.#streams].map((stream) => this.#recheck(stream)))
  }

  /** Ends all streams and refuses new ones, because a service that stops cannot wait for streams to end by themselves. */
  close(): void {
    this.#isClosed = true
    for (const stream of this.#streams) this.#end(stream)
  }

  #checkLimits(reader: Caller): void {
    if (this.#isClosed) throw shuttingDown()
    const all = [...this.#streams, ...this.#opening]
    if (all.length >= maxStreams) throw tooManyStreams(`${maxStreams} event streams are open`)
    let own = 0
    const name = limitKeyOf(reader)
    for (const { caller } of all) if (limitKeyOf(caller) === name) own++
    if (own >= maxStreamsPerCaller) {
      throw tooManyStreams(`${reader.user ? 'You have' : 'This key has'} ${maxStreamsPerCaller} event streams open`)
    }
  }

  /** The first block has the reader's position, so that it can resume even if no event has followed. */
  #begin(stream: Stream, lastEventId: string | undefined): void {
    const { channel } = stream
    const resumeAt = lastEventId === undefined ? channel.position : channel.positionOf(lastEventId)
    const preamble = `: roomkeeper events\nretry: ${reconnectAfterMs}\n`
    if (resumeAt !== undefined) {
      stream.position = resumeAt
      this.#write(stream, `${preamble}id: ${channel.idAt(resumeAt)}\n\n`)
      return
    }
    // The id comes with the reset event, so a reader that disconnects before it receives the event is sent another.
    const reset: Event = { type: 'reset', at: isoTime(this.#clock.now()), roomIds: [] }
    this.#write(stream, `${preamble}\n`)
    this.#write(stream, eventFrame(channel.idAt(stream.position), reset))
    this.sent++
  }

  /** Stops when the socket is full: events that were not written stay in the channel, once for all readers. */
  #writeEvents(stream: Stream): void {
    const { channel, filter } = stream
    stream.position = channel.resumeAt(stream.position)
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

  /** Disconnects a reader that is too slow. It may reconnect, and resume if its position is still available. */
  #cut(stream: Stream): void {
    this.cut++
    this.#remove(stream)
    stream.out.destroy()
  }

  /** A stalled reader is disconnected immediately, because it would not read the end of the stream either. */
  #end(stream: Stream): void {
    this.#remove(stream)
    if (stream.stalledAt === undefined) stream.out.end()
    else stream.out.destroy()
  }

  #remove(stream: Stream): void {
    stream.unfollow()
    this.#streams.delete(stream)
  }

  async #recheck(stream: Stream): Promise<void> {
    try {
      if (!(await stream.isAllowed()) && this.#streams.has(stream)) this.#end(stream)
    } catch {
      // The database is not available, so no events come either. The next recheck follows within seconds.
    }
  }
}

/** The filter of a stream is made for one role and one set of regions. [contract 11.access] */
const mayReadAs = (before: Caller, { permissions, user, access }: Caller): boolean =>
  permissions.read &&
  permissions.auditLog === before.permissions.auditLog &&
  user?.role === before.user?.role &&
  access.key === before.access.key

/**
 * The node was declared dead, or lost its messages, in the moment between the last answer and the stream; or the permissions of the
 * caller have changed, and the next attempt gets what they are now.
 */
const notBegun = (): Failure =>
  new Failure('UNAVAILABLE', 'The stream could not begin. Try again in a few seconds.', {
    retryAfterSeconds: 2,
  })

const tooManyStreams = (what: string): Failure =>
  new Failure('RESOURCE_EXHAUSTED', `${what}. Close one, or try again in a minute.`, {
    retryAfterSeconds: 60,
  })
