// Follows the events of an organisation and changes node every few seconds, going on after the last event that it has.
import { setTimeout as pause } from 'node:timers/promises'
import { makeClient } from '../../../../src/client/client.ts'
import type { CalledNode } from './call-log.ts'
import type { FollowedItem } from './histories.ts'

/** A node that cannot be followed is tried again after this. */
const retryMs = 200

export class RoamingFollower {
  readonly items: FollowedItem[] = []
  readonly #org: string
  readonly #key: string
  readonly #nextNode: () => CalledNode
  readonly #stayMs: number
  #lastEventId: string | undefined
  #opened = 0
  #isFollowing = true
  #following: Promise<void> | undefined
  #leave = new AbortController()

  constructor(org: string, key: string, nextNode: () => CalledNode, stayMs: number) {
    this.#org = org
    this.#key = key
    this.#nextNode = nextNode
    this.#stayMs = stayMs
  }

  /** How often it has opened a stream. */
  get opened(): number {
    return this.#opened
  }

  /** The number of the last audit entry that it has, 0 before the first and after a reset. */
  get lastEntry(): number {
    const last = this.items.at(-1)
    return last?.kind === 'structure' ? last.entry : 0
  }

  start(): void {
    this.#following = this.#follow()
  }

  async stop(): Promise<void> {
    this.#isFollowing = false
    this.#leave.abort()
    await this.#following
  }

  async #follow(): Promise<void> {
    while (this.#isFollowing) {
      const node = this.#nextNode()
      this.#leave = new AbortController()
      const timer = setTimeout(() => this.#leave.abort(), this.#stayMs)
      try {
        await this.#read(node)
      } catch {
        // The node is gone or refuses: the next one is tried with the same position.
        if (this.#isFollowing && !this.#leave.signal.aborted) await pause(retryMs)
      }
      clearTimeout(timer)
    }
  }

  async #read({ name, url }: CalledNode): Promise<void> {
    const client = makeClient({ baseUrl: url, org: this.#org, token: this.#key })
    const stream = client.eventsStream(
      { types: 'structure' },
      {
        lastEventId: this.#lastEventId,
        signal: this.#leave.signal,
        onOpen: () => {
          this.#opened++
        },
      },
    )
    try {
      for await (const { id, event } of stream) {
        this.#lastEventId = id
        const at = performance.now()
        if (event.type === 'reset') this.items.push({ kind: 'reset', node: name, at })
        else if (event.change) this.items.push({ kind: 'structure', entry: Number(event.change.id), node: name, at })
      }
    } finally {
      this.#lastEventId = stream.lastEventId ?? this.#lastEventId
    }
  }
}
