// Tells tests which statements the program has, and how many rows each of them returned or changed. In production nothing observes.
import type { CompiledQuery } from 'kysely'
import type { EngineName } from './engine.ts'

export interface StatementObserver {
  /**
   * Called where a store declares a statement, which runs on both engines or on one of them. The function that it returns is called
   * when the statement is compiled for an engine.
   */
  declared(onlyOn: EngineName | undefined): StatementCompiled
  /** Called after each run, with the number of rows that the statement returned or changed. */
  ran(query: CompiledQuery, rowCount: number): void
}

export type StatementCompiled = (engine: EngineName, query: CompiledQuery) => void

export let statementObserver: StatementObserver | undefined

/** Must be called before the stores are loaded, because they declare their statements then. */
export function observeStatements(observer: StatementObserver): void {
  statementObserver = observer
}

const ignore: StatementCompiled = () => {}

export const declareStatement = (onlyOn?: EngineName): StatementCompiled =>
  statementObserver?.declared(onlyOn) ?? ignore
