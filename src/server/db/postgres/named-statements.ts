// Statements that PostgreSQL reads and plans once for each connection, by a name that they get when they are used often.
import type { CompiledQuery } from 'kysely'
import pg from 'pg'

/** What is asked now and then is not worth a place in the memory of every connection. */
const often = 5
/** Some ten kilobytes each, on every connection. */
const mostNamed = 500

export interface QueryResult {
  readonly command: string
  readonly rows: unknown[]
}
/** The answer is there unless there is an error. */
export type QueryCallback = (error: Error | undefined, answer: QueryResult) => void

/** The driver takes a name only in an object of settings, and copying that costs it more than the rest of the query. */
class NamedQuery extends pg.Query {
  readonly name: string | undefined

  constructor(name: string | undefined, text: string, values: unknown[], done: QueryCallback) {
    super(text, values, done)
    this.name = name
  }
}

export class NamedStatement {
  readonly #text: string
  readonly #nextName: () => string | undefined
  /** Nothing comes back of it but whether it was done. */
  readonly isSilent: boolean
  #used = 0
  #name: string | undefined

  constructor(text: string, nextName: () => string | undefined) {
    this.#text = text
    this.#nextName = nextName
    this.isSilent = /^(insert|update|delete) /i.test(text) && !/\breturning\b/i.test(text)
  }

  ask(client: pg.ClientBase, values: readonly unknown[], done: QueryCallback): void {
    if (this.#used < often && ++this.#used === often) this.#name = this.#nextName()
    client.query(new NamedQuery(this.#name, this.#text, values as unknown[], done))
  }
}

export class NamedStatements {
  readonly #known = new WeakMap<CompiledQuery, NamedStatement>()
  #named = 0

  of(query: CompiledQuery): NamedStatement {
    let statement = this.#known.get(query)
    if (!statement) {
      statement = new NamedStatement(query.sql, () => (this.#named < mostNamed ? `q${++this.#named}` : undefined))
      this.#known.set(query, statement)
    }
    return statement
  }
}
