// Names statements that are used often, so that PostgreSQL parses them once for each connection.
import type { CompiledQuery } from 'kysely'
import type pg from 'pg'
import { hasList } from '../queries/any-of.ts'
import { statementObserver } from '../statement-observer.ts'

/** A statement that is used less often than this is not worth its memory on every connection. */
const usesBeforeNaming = 5
/** A named statement takes about ten kilobytes on every connection. */
const maxNamedStatements = 500

export interface QueryResult {
  readonly command: string
  readonly rows: unknown[]
  /** How many rows the statement returned or changed. */
  readonly rowCount: number | null
}
/** The result is defined unless there is an error. */
export type QueryCallback = (error: Error | undefined, result: QueryResult) => void

export class NamedStatement {
  readonly #query: CompiledQuery
  readonly #nextName: () => string | undefined
  /** True for an INSERT, UPDATE or DELETE without RETURNING and without WITH. */
  readonly returnsNoRows: boolean
  /**
   * A statement with a list (see any-of.ts) is planned at each use. PostgreSQL may keep one plan for a named statement, and a plan that
   * was made for small tables and a few ids can take seconds for thousands of them.
   */
  readonly #hasList: boolean
  #uses = 0
  #name: string | undefined

  constructor(query: CompiledQuery, nextName: () => string | undefined) {
    this.#query = query
    this.#nextName = nextName
    this.#hasList = hasList(query)
    this.returnsNoRows = returnsNoRows(query)
  }

  send(client: pg.ClientBase, values: readonly unknown[], done: QueryCallback): void {
    if (!this.#hasList && this.#uses < usesBeforeNaming && ++this.#uses === usesBeforeNaming)
      this.#name = this.#nextName()
    client.query({ name: this.#name, text: this.#query.sql, values: [...values] }, observed(this.#query, done))
  }
}

function observed(query: CompiledQuery, done: QueryCallback): QueryCallback {
  const observer = statementObserver
  if (!observer) return done
  return (error, result) => {
    if (!error) observer.ran(query, result.rowCount ?? 0)
    done(error, result)
  }
}

function returnsNoRows({ query, sql }: CompiledQuery): boolean {
  switch (query.kind) {
    case 'InsertQueryNode':
    case 'UpdateQueryNode':
    case 'DeleteQueryNode':
      return query.returning === undefined && query.with === undefined
    case 'RawNode':
      return /^(insert|update|delete) /i.test(sql) && !/\breturning\b/i.test(sql)
    default:
      return false
  }
}

export class NamedStatements {
  readonly #statements = new WeakMap<CompiledQuery, NamedStatement>()
  #namedCount = 0

  of(query: CompiledQuery): NamedStatement {
    let statement = this.#statements.get(query)
    if (!statement) {
      statement = new NamedStatement(query, () =>
        this.#namedCount < maxNamedStatements ? `q${++this.#namedCount}` : undefined,
      )
      this.#statements.set(query, statement)
    }
    return statement
  }
}
