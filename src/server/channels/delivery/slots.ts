// Bounds how many messages are sent at the same time. An attempt without an answer after half a second moves from the quick slots to the
// slow ones, where channels that failed or were slow start: receivers that hang wait for each other, and never hold up the others.
import { secondMs } from '../../../contract/durations.ts'

/** The limits for all channels of all organisations on this node, and for one organisation. */
const quickLimits = { max: 128, maxOfOrg: 64 } as const
const slowLimits = { max: 256, maxOfOrg: 128 } as const
/** An attempt keeps a quick slot for this long. */
const quickMs = secondMs / 2
/** An attempt that takes longer makes its channel a slow one. */
const slowAttemptMs = 2 * secondMs
/** If all slow slots are used, an attempt can be ended after this time to make room for one that leaves its quick slot. */
const endableMs = 1.5 * secondMs
const retryMoveMs = secondMs / 10

interface Attempt {
  readonly org: number
  readonly channelId: number
  /** The last attempt of the channel failed. */
  readonly isFailing: boolean
}

interface SlotGroup {
  readonly max: number
  readonly maxOfOrg: number
  readonly running: Set<SlottedAttempt>
  /** In the order in which they came. */
  waiting: SlottedAttempt[]
}

interface SlottedAttempt {
  readonly org: number
  /** Names the organisation and the channel. */
  readonly channel: string
  readonly start: () => void
  /** Aborted if the attempt is ended before its time. */
  readonly ending: AbortController
  group: SlotGroup
  startedAt: number
}

export class AttemptSlots {
  readonly #quick: SlotGroup = { ...quickLimits, running: new Set(), waiting: [] }
  readonly #slow: SlotGroup = { ...slowLimits, running: new Set(), waiting: [] }
  /** Keys `org/channel` of channels whose last attempt was slow. */
  readonly #slowChannels = new Set<string>()

  /** Runs the work when there is room for it. The signal ends it before its time. */
  async run<T>({ org, channelId, isFailing }: Attempt, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const channel = `${org}/${channelId}`
    const { promise: isStarted, resolve: start } = Promise.withResolvers<void>()
    const group = isFailing || this.#isSlow(channel) ? this.#slow : this.#quick
    const attempt: SlottedAttempt = { org, channel, start, ending: new AbortController(), group, startedAt: 0 }
    group.waiting.push(attempt)
    this.#startWaiting(group)
    await isStarted
    let timer = setTimeout(() => move(), quickMs).unref()
    const move = () => {
      if (attempt.group === this.#quick && !this.#moveToSlow(attempt)) timer = setTimeout(move, retryMoveMs).unref()
    }
    try {
      return await work(attempt.ending.signal)
    } finally {
      clearTimeout(timer)
      if (performance.now() - attempt.startedAt > slowAttemptMs) this.#slowChannels.add(channel)
      else this.#slowChannels.delete(channel)
      attempt.group.running.delete(attempt)
      this.#startWaiting(attempt.group)
    }
  }

  #isSlow(channel: string): boolean {
    return this.#slowChannels.has(channel) || this.#slow.running.values().some((attempt) => attempt.channel === channel)
  }

  /** Returns false if there is no room. What else waits for the channel follows, because it would hang too. */
  #moveToSlow(attempt: SlottedAttempt): boolean {
    if (this.#slow.running.size >= this.#slow.max && !this.#endOne()) return false
    this.#quick.running.delete(attempt)
    this.#slow.running.add(attempt)
    attempt.group = this.#slow
    const isOfChannel = ({ channel }: SlottedAttempt) => channel === attempt.channel
    const followers = this.#quick.waiting.filter(isOfChannel)
    for (const follower of followers) follower.group = this.#slow
    this.#quick.waiting = this.#quick.waiting.filter((waiting) => !isOfChannel(waiting))
    this.#slow.waiting.push(...followers)
    this.#startWaiting(this.#quick)
    this.#startWaiting(this.#slow)
    return true
  }

  /** Ends the oldest attempt of the channel that has most slow ones. A channel's only slow attempt is ended after `endableMs` at the earliest. */
  #endOne(): boolean {
    const counts = countBy(this.#slow.running, ({ channel }) => channel)
    const countOf = ({ channel }: SlottedAttempt) => counts.get(channel) ?? 0
    const [first] = [...this.#slow.running]
      .filter((attempt) => countOf(attempt) > 1 || performance.now() - attempt.startedAt >= endableMs)
      .sort((a, b) => countOf(b) - countOf(a) || a.startedAt - b.startedAt)
    if (!first) return false
    this.#slow.running.delete(first)
    first.ending.abort()
    return true
  }

  /** The organisation with the fewest attempts comes next, then the channel with the fewest, then what has waited longest. */
  #startWaiting(group: SlotGroup): void {
    if (group.waiting.length === 0 || group.running.size >= group.max) return
    const ofOrg = countBy(group.running, ({ org }) => org)
    const ofChannel = countBy([...this.#quick.running, ...this.#slow.running], ({ channel }) => channel)
    while (group.running.size < group.max) {
      let next: SlottedAttempt | undefined
      for (const waiting of group.waiting) {
        const orgCount = ofOrg.get(waiting.org) ?? 0
        if (orgCount >= group.maxOfOrg) continue
        const difference = next ? orgCount - (ofOrg.get(next.org) ?? 0) : -1
        const isBefore = () => (ofChannel.get(waiting.channel) ?? 0) < (ofChannel.get(next?.channel ?? '') ?? 0)
        if (difference < 0 || (difference === 0 && isBefore())) next = waiting
      }
      if (!next) return
      group.waiting.splice(group.waiting.indexOf(next), 1)
      group.running.add(next)
      ofOrg.set(next.org, (ofOrg.get(next.org) ?? 0) + 1)
      ofChannel.set(next.channel, (ofChannel.get(next.channel) ?? 0) + 1)
      next.startedAt = performance.now()
      next.start()
    }
  }
}

function countBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, number> {
  const counts = new Map<K, number>()
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1)
  return counts
}
