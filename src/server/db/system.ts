// Handles and queries for work that is not limited to one organisation: look-ups of keys, sessions, devices and codes, and scheduled tasks.
// test/house lists the files that may import this one.
import type { Kysely } from 'kysely'
import { RegionAccess } from '../core/region-access.ts'
import type { EngineName, StatementRunner } from './engine.ts'
import { Handle, Tx, type WriteLog } from './handles.ts'
import { type BuildQuery, compileOnce } from './queries/query.ts'
import type { DatabaseSchema } from './schema/schema.ts'

type ValuesArgument<P> = object extends P ? [values?: P] : [values: P]

export class SystemReader extends Handle {
  readonly isSystem = true

  /** Runs statements that are too rare to be compiled once. Handles of an organisation have no Kysely: it would reach all organisations. */
  get kysely(): Kysely<DatabaseSchema> {
    return Handle.connectionOf(this).statements.kysely
  }

  /** Reads rows of no organisation inside an organisation's transaction, such as a serial during enrolment. */
  static within(tx: Tx): SystemReader {
    const { engine, statements, writeLog } = Handle.connectionOf(tx)
    return new SystemReader(engine, statements, writeLog)
  }
}

export class SystemTx extends SystemReader {
  readonly isWritable = true
  readonly #forOrg: (org: number) => Tx

  constructor(engine: EngineName, statements: StatementRunner, writeLog: WriteLog) {
    super(engine, statements, writeLog)
    this.#forOrg = (org) => new Tx({ org, access: RegionAccess.everything }, engine, statements, writeLog)
  }

  /** Gives this transaction a handle of one organisation. */
  forOrg(org: number): Tx {
    return this.#forOrg(org)
  }
}

export function systemQuery<P extends object, R>(build: BuildQuery<P, R>, onlyOn?: EngineName) {
  const run = compileOnce(build, onlyOn)
  return (on: SystemReader, ...[values]: ValuesArgument<P>): Promise<R[]> => run(on, values, undefined)
}

export function systemQueryOne<P extends object, R>(build: BuildQuery<P, R>) {
  const run = compileOnce(build)
  return async (on: SystemReader, ...[values]: ValuesArgument<P>): Promise<R | undefined> =>
    (await run(on, values, undefined))[0]
}

export function systemQueryExists<P extends object, R>(build: BuildQuery<P, R>) {
  const run = compileOnce(build)
  return async (on: SystemReader, ...[values]: ValuesArgument<P>): Promise<boolean> =>
    (await run(on, values, undefined)).length > 0
}

export function systemWrite<P extends object, R>(build: BuildQuery<P, R>) {
  const run = compileOnce(build)
  return (tx: SystemTx, ...[values]: ValuesArgument<P>): Promise<R[]> => run(tx, values, undefined)
}

export function systemWriteOne<P extends object, R>(build: BuildQuery<P, R>) {
  const run = compileOnce(build)
  return async (tx: SystemTx, ...[values]: ValuesArgument<P>): Promise<R | undefined> =>
    (await run(tx, values, undefined))[0]
}
