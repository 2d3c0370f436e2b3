// Remembers of which commits this node has heard: of its own when they succeed, of others by their messages.
import type { CommitNumber } from '../../db/group-commit.ts'
import type { LastCommits } from './last-commits.ts'

/** After so many later numbers, the missing one is not waited for any more. */
const maxHeardAhead = 1000

/** A sequence of numbers, of which all up to one were heard, and some after that. */
class HeardNumbers {
  #upTo: number
  readonly #ahead = new Set<number>()

  constructor(upTo: number) {
    this.#upTo = upTo
  }

  get upTo(): number {
    return this.#upTo
  }

  add(number: number): void {
    if (number <= this.#upTo) return
    this.#ahead.add(number)
    this.#advance()
    // A message was lost. The messages after the gap are dropped: the next reader finds that commits are missing and drops its caches.
    if (this.#ahead.size > maxHeardAhead) this.#ahead.clear()
  }

  /** Counts all numbers up to this one as heard. */
  skipTo(number: number): void {
    this.#upTo = Math.max(this.#upTo, number)
    for (const ahead of this.#ahead) if (ahead <= this.#upTo) this.#ahead.delete(ahead)
    this.#advance()
  }

  #advance(): void {
    while (this.#ahead.delete(this.#upTo + 1)) this.#upTo++
  }
}

/** Commits of which nothing was heard. */
interface UnheardCommits {
  /** True if they may be about any organisation. */
  readonly ofNodes: boolean
  readonly ofOrgs: readonly number[]
  /** False if no message can be expected: of a node that ended, or of commits from before this node began to count. */
  readonly mayArrive: boolean
}

export class HeardCommits {
  readonly #nodes = new Map<number, HeardNumbers>()
  readonly #orgs = new Map<number, HeardNumbers>()
  #lastNode = 0
  #waiting: (() => void)[] = []

  /** False if the commit was counted before, and its message is late. A sequence that is not counted yet has no late ones. */
  isNew(number: CommitNumber): boolean {
    const numbers = this.#sequenceOf(number)
    return !numbers || number.number > numbers.upTo
  }

  /** Caches must have been told before. */
  add(number: CommitNumber): void {
    const numbers = this.#sequenceOf(number)
    // Nothing is known about the commits before it, so the next look begins the sequence.
    if (!numbers) return
    numbers.add(number.number)
    const waiting = this.#waiting
    this.#waiting = []
    for (const resume of waiting) resume()
  }

  /** Undefined if this node has heard of all these commits. */
  findUnheard({ lastNode, nodes, orgs }: LastCommits): UnheardCommits | undefined {
    // A node that started since the last look may have ended again, and nothing else would tell of its commits.
    let ofNodes = lastNode !== this.#lastNode
    let mayArrive = !ofNodes
    for (const [node, number] of nodes) {
      const upTo = this.#nodes.get(node)?.upTo
      if (upTo !== undefined && upTo >= number) continue
      ofNodes = true
      if (upTo === undefined) mayArrive = false
    }
    for (const node of this.#nodes.keys()) {
      // A node that is not up any more may have made commits before its end. Its devices are not connected any more either.
      if (!nodes.has(node)) [ofNodes, mayArrive] = [true, false]
    }
    const ofOrgs: number[] = []
    for (const [org, number] of orgs) {
      const upTo = this.#orgs.get(org)?.upTo
      if (upTo !== undefined && upTo >= number) continue
      ofOrgs.push(org)
      if (upTo === undefined) mayArrive = false
    }
    return ofNodes || ofOrgs.length > 0 ? { ofNodes, ofOrgs, mayArrive } : undefined
  }

  /** Resolves when a further commit was heard, or after the time. */
  async waitForNext(maxMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, maxMs)
    this.#waiting.push(resolve)
    await promise
    clearTimeout(timer)
  }

  /** Counts all these commits as heard. Caches must have dropped everything that the unheard ones may be about. */
  skipTo({ lastNode, nodes, orgs }: LastCommits): void {
    this.#lastNode = lastNode
    for (const node of this.#nodes.keys()) if (!nodes.has(node)) this.#nodes.delete(node)
    for (const [node, number] of nodes) skip(this.#nodes, node, number)
    for (const [org, number] of orgs) skip(this.#orgs, org, number)
  }

  /** Begins all sequences again, with the next look. */
  clear(): void {
    this.#nodes.clear()
    this.#orgs.clear()
    this.#lastNode = 0
  }

  #sequenceOf(number: CommitNumber): HeardNumbers | undefined {
    return 'nodeId' in number ? this.#nodes.get(number.nodeId) : this.#orgs.get(number.org)
  }
}

function skip(sequences: Map<number, HeardNumbers>, key: number, number: number): void {
  const numbers = sequences.get(key)
  if (numbers) numbers.skipTo(number)
  else sequences.set(key, new HeardNumbers(number))
}
