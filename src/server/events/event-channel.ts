// The events of one organisation, as every node has them: what this node heard, in the order of the bus, and who reads it here.
import type { EventChannelState, EventsMessage, NumberedItem, SentCount } from '../bus/event-messages.ts'
import type { Clock } from '../core/clock.ts'
import { AuditOrder } from './audit-order.ts'
import type { EventFilter } from './filter.ts'
import { type EventBatch, EventRing, eventId } from './ring.ts'

/**
 * Everything but the readers depends only on the messages since the channel was opened or restored. All nodes hear the same
 * messages, so that they have the same events with the same ids in the same order.
 */
export class EventChannel {
  readonly org: number
  readonly #clock: Clock
  readonly #ring = new EventRing('')
  readonly #order = new AuditOrder((numbered) => this.#append(numbered))
  /** The last number of each sending node's name. */
  readonly #heard = new Map<string, number>()
  /** The ids of the nodes with readers. The channel is open as long as there is one. */
  readonly followers = new Set<number>()
  /** The ids of the nodes that are known to send the events of the organisation. */
  readonly #senders = new Set<number>()
  readonly #readers = new Set<() => void>()
  #idleSince: number | undefined
  /** Batches by position and filter, set only while all readers are being notified. */
  #sharedBatches: Map<string, EventBatch> | undefined

  constructor(org: number, clock: Clock) {
    this.org = org
    this.#clock = clock
  }

  /** False until all nodes are known to send the events of the organisation. */
  get isStarted(): boolean {
    return this.#order.next !== undefined
  }

  /** The audit entry whose event is missing while later ones wait. */
  get missing(): number | undefined {
    return this.#order.missing
  }

  /** Readers that are left from an earlier period may have missed something. */
  start(name: string, auditNumber: number): void {
    if (this.isStarted) return
    if (this.hasReaders) this.#ring.reset(name, 0, this.#clock.now())
    else this.#ring.clear(eventId(name, 0))
    this.#order.start(auditNumber)
    this.#notifyReaders()
  }

  /** Numbers of a command are not checked: if its messages are lost, the events of its audit entries are missing. */
  hear({ name, first, items }: EventsMessage, isFromNode: boolean): void {
    const last = isFromNode ? (this.#heard.get(name) ?? 0) : first - 1
    if (first > last + 1) this.#ring.reset(name, first - 1, this.#clock.now())
    if (isFromNode) this.#heard.set(name, Math.max(last, first + items.length - 1))
    for (let i = Math.max(0, last + 1 - first); i < items.length; i++) {
      const numbered = { name, number: first + i, item: items[i] as NumberedItem['item'] }
      const [{ type }, , , auditNumber] = numbered.item
      if (type === 'reset' && auditNumber === undefined) this.#append(numbered)
      else this.#order.add(numbered)
    }
    if (this.#order.isFull) this.#skipMissing(`full${name}`, first)
    this.#notifyReaders()
  }

  /** Gives up an audit entry whose event did not come. */
  skip(name: string, auditNumber: number): void {
    if (this.missing !== auditNumber) return
    this.#skipMissing(name, 0)
    this.#notifyReaders()
  }

  /** A node says that it sends the events from now on. If readers do not wait for that, they may have missed some. */
  addSender(nodeId: number, name: string): void {
    if (this.#senders.has(nodeId)) return
    this.#senders.add(nodeId)
    if (this.isStarted) this.reset(`${name}n${nodeId}`)
  }

  /**
   * Adds an id from which readers can resume: a node joins here. A node that starts has sent nothing before. If one that is back
   * did not know that the organisation is followed, or if what it sent was lost, the id is that of a reset.
   */
  join(nodeId: number, name: string, isBack: boolean, sent: SentCount | undefined): void {
    const [, sender = '', number = 0] = sent ?? []
    const isComplete = (this.#heard.get(sender) ?? 0) >= number && (!isBack || this.#senders.has(nodeId))
    if (sent && number > 0) this.#heard.set(sender, number)
    this.#senders.add(nodeId)
    if (isComplete || !this.isStarted) this.#ring.mark(name)
    else this.#ring.reset(name, 0, this.#clock.now())
    this.#notifyReaders()
  }

  reset(name: string): void {
    this.#ring.reset(name, 0, this.#clock.now())
    this.#notifyReaders()
  }

  /** Clears everything but the readers, who get a reset when the channel is started again. */
  close(): void {
    this.followers.clear()
    this.#senders.clear()
    this.#heard.clear()
    this.#order.restore(undefined, [])
  }

  get state(): EventChannelState {
    return {
      org: this.org,
      followers: [...this.followers],
      senders: [...this.#senders],
      heard: [...this.#heard],
      nextAuditNumber: this.#order.next,
      held: this.#order.held,
    }
  }

  /** Goes on from the state that other nodes had at a message whose name is given. */
  restore({ followers, senders, heard, nextAuditNumber, held }: EventChannelState, name: string): void {
    this.close()
    for (const id of followers) this.followers.add(id)
    for (const id of senders) this.#senders.add(id)
    for (const [sender, number] of heard) this.#heard.set(sender, number)
    this.#order.restore(nextAuditNumber, held)
    // Before the start there is nothing to read, and the start tells the readers.
    if (!this.isStarted) return
    if (this.hasReaders) this.#ring.reset(name, 0, this.#clock.now())
    else this.#ring.clear(eventId(name, 0))
    this.#notifyReaders()
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0
  }

  /** Calls `onMore` whenever there are new events to read. The returned function ends that. */
  follow(onMore: () => void): () => void {
    this.#readers.add(onMore)
    this.#idleSince = undefined
    return () => void this.#readers.delete(onMore)
  }

  /** The time since when the channel has no reader here; infinite while it has one. */
  idleSince(now: number): number {
    if (this.hasReaders) return Number.POSITIVE_INFINITY
    this.#idleSince ??= now
    return this.#idleSince
  }

  /** The position after all events. */
  get position(): number {
    return this.#ring.position
  }

  idAt(position: number): string {
    return this.#ring.idAt(position)
  }

  /** Returns the position of an id; undefined if the events after it are not, or no longer, available here. */
  positionOf(id: string): number | undefined {
    return this.#ring.positionOf(id)
  }

  /** Returns the position from which a reader goes on: its own, or that of a reset which it has not read yet. */
  resumeAt(position: number): number {
    return Math.max(position, this.#ring.resetPosition)
  }

  /** Returns whether all events after this position are still available. */
  has(position: number): boolean {
    return this.#ring.has(position)
  }

  /** Reads the next events after a position that match the filter. Readers with the same position and filter share the bytes. */
  read(from: number, filter: EventFilter): EventBatch {
    const key = `${from} ${filter.key}`
    const batch = this.#sharedBatches?.get(key) ?? this.#ring.read(from, filter)
    this.#sharedBatches?.set(key, batch)
    return batch
  }

  #skipMissing(name: string, number: number): void {
    this.#order.skip()
    this.#ring.reset(name, number, this.#clock.now())
  }

  #append({ name, number, item: [event, locations, regions, , parts] }: NumberedItem): void {
    if (event.type === 'reset') this.#ring.reset(name, number, Date.parse(event.at))
    else this.#ring.append(name, number, event, { rooms: event.roomIds, locations, regions }, parts)
  }

  #notifyReaders(): void {
    this.#ring.trim()
    this.#sharedBatches = new Map()
    for (const onMore of this.#readers) onMore()
    this.#sharedBatches = undefined
  }
}
