// Puts the events of changes into the order of their audit entries, whatever node they come from. [contract D.44]
import type { NumberedItem } from '../bus/event-messages.ts'
import { maxRetainedEvents } from './ring.ts'

/**
 * While the event of an entry is missing, everything that comes later waits: a report about a command must not overtake the
 * change that made the command. The result depends only on the order of the calls, so that it is the same on every node.
 */
export class AuditOrder {
  readonly #release: (numbered: NumberedItem) => void
  #next: number | undefined
  /** In the order of arrival. An item whose audit number is below `#next` was released already. */
  #held: NumberedItem[] = []
  readonly #heldByAuditNumber = new Map<number, NumberedItem>()

  constructor(release: (numbered: NumberedItem) => void) {
    this.#release = release
  }

  /** The number of the entry whose event comes next; undefined before `start`. */
  get next(): number | undefined {
    return this.#next
  }

  /** The number of the entry that is waited for; undefined if nothing waits. */
  get missing(): number | undefined {
    return this.#held.length > 0 ? this.#next : undefined
  }

  /** True if more waits than is retained for readers. */
  get isFull(): boolean {
    return this.#held.length > maxRetainedEvents
  }

  get held(): readonly NumberedItem[] {
    return this.#held.filter(({ item }) => !this.#isPast(item[3]))
  }

  /** Events of entries up to this number are dropped from now on. */
  start(auditNumber: number): void {
    this.#next = auditNumber + 1
    for (const number of this.#heldByAuditNumber.keys())
      if (this.#isPast(number)) this.#heldByAuditNumber.delete(number)
    this.#drain()
  }

  /** Takes over a state. */
  restore(next: number | undefined, held: readonly NumberedItem[]): void {
    this.#next = next
    this.#held = []
    this.#heldByAuditNumber.clear()
    for (const numbered of held) this.#hold(numbered)
  }

  add(numbered: NumberedItem): void {
    const auditNumber = numbered.item[3]
    if (this.#isPast(auditNumber)) return
    if (this.#next !== undefined && auditNumber === this.#next) {
      this.#next++
      this.#release(numbered)
      this.#drain()
    } else if (auditNumber === undefined && this.#next !== undefined && this.#held.length === 0) {
      this.#release(numbered)
    } else this.#hold(numbered)
  }

  /** Gives up the missing entries, and with them everything that waits. Its readers must be told to reload. */
  skip(): void {
    const last = [...this.#heldByAuditNumber.keys()].reduce((a, b) => Math.max(a, b), 0)
    this.restore(this.#next && Math.max(this.#next, last + 1), [])
  }

  #hold(numbered: NumberedItem): void {
    const auditNumber = numbered.item[3]
    if (auditNumber !== undefined) {
      if (this.#heldByAuditNumber.has(auditNumber)) return
      this.#heldByAuditNumber.set(auditNumber, numbered)
    }
    this.#held.push(numbered)
  }

  #drain(): void {
    let index = 0
    while (this.#next !== undefined) {
      const numbered = this.#heldByAuditNumber.get(this.#next)
      if (numbered) {
        this.#heldByAuditNumber.delete(this.#next++)
        this.#release(numbered)
        continue
      }
      const first = this.#held[index]
      const auditNumber = first?.item[3]
      if (!first || (auditNumber !== undefined && auditNumber > this.#next)) break
      index++
      if (auditNumber === undefined) this.#release(first)
    }
    this.#held.splice(0, index)
  }

  #isPast(auditNumber: number | undefined): boolean {
    return auditNumber !== undefined && this.#next !== undefined && auditNumber < this.#next
  }
}
