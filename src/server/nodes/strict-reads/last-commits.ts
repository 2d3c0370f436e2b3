// Reads the present numbers of all commits in one small statement, which everybody who waits for it shares.
import { setImmediate as immediate } from 'node:timers/promises'
import { CompiledQuery } from 'kysely'
import type { SystemReader } from '../../db/system.ts'

/** The numbers of the last commits: by node, for all nodes that are up, and by organisation, for those that were asked for. */
export interface LastCommits {
  /** The highest id of all nodes that ever started. It tells of one that started and ended since the last look. */
  readonly lastNode: number
  readonly nodes: ReadonlyMap<number, number>
  readonly orgs: ReadonlyMap<number, number>
}

interface NumberRow {
  readonly node: number | null
  readonly org: number | null
  readonly number: number
}

/** The list is passed as the text of an array, so that PostgreSQL plans the statement once for each connection. */
const lastCommits = CompiledQuery.raw(
  `select id as node, null::integer as org, changes as number from nodes where state = 'up'
   union all select null, org, count from audit_heads where org = any($1::integer[])
   union all select null, null, max(id) from nodes`,
) as CompiledQuery<NumberRow>

/** A statement on a connection that is lost without an error must not hold up all readers, so the next one begins after this time. */
const maxWaitMs = 250

interface Look {
  readonly orgs: Set<number>
  readonly result: Promise<LastCommits>
}

/** A caller never gets the result of a look that began before the call: a commit in between would be missing. */
export class LastCommitsReader {
  readonly #reader: SystemReader
  /** The look that has not begun yet. Everybody who comes before its beginning shares it. */
  #next: Look | undefined
  /** Resolves when the next look may begin. */
  #previous: Promise<unknown> = Promise.resolve()

  constructor(reader: SystemReader) {
    this.#reader = reader
  }

  /** Calls that share a look get the same promise. */
  read(org: number): Promise<LastCommits> {
    if (!this.#next) {
      const orgs = new Set<number>()
      const result = this.#readAfter(this.#previous, orgs)
      this.#previous = endOrTimeout(result)
      this.#next = { orgs, result }
    }
    this.#next.orgs.add(org)
    return this.#next.result
  }

  async #readAfter(previous: Promise<unknown>, requested: ReadonlySet<number>): Promise<LastCommits> {
    await previous
    // Readers of the same turn of the event loop share the look.
    await immediate()
    this.#next = undefined
    const rows = await this.#read([...requested])
    const [nodes, orgs] = [new Map<number, number>(), new Map<number, number>()]
    let lastNode = 0
    for (const { node, org, number } of rows) {
      if (node !== null) nodes.set(node, number)
      else if (org !== null) orgs.set(org, number)
      else lastNode = number
    }
    return { lastNode, nodes, orgs }
  }

  async #read(orgs: readonly number[]): Promise<NumberRow[]> {
    try {
      return await this.#reader.run(lastCommits, [`{${orgs.join()}}`])
    } catch (error) {
      throw this.#reader.errorOf(error)
    }
  }
}

/** Resolves when the look has ended, or has taken too long. */
function endOrTimeout(look: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, maxWaitMs)
  const end = () => {
    clearTimeout(timer)
    resolve()
  }
  look.then(end, end)
  return promise
}
