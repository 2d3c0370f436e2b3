// Tells tests which statements the program has, and how many rows each of them returned or changed. In production nothing observes.
import type { CompiledQuery } from 'kysely'
import type { EngineName } from './engine.ts'
import type { Handle } from './handles.ts'

export interface StatementObserver {
  /**
   * Called where a store declares a statement, which runs on both engines or on one of them. The function that it returns is called
   * when the statement is compiled for an engine.
   */
  declared(onlyOn: EngineName | undefined): StatementCompiled
  /** Called where a store declares variants of a statement (variants.ts). It returns the function that builds them. */
  declaredVariants<N extends string, Q>(parts: readonly N[], build: BuildVariant<N, Q>): BuildVariant<N, Q>
  /** Called with each statement that is compiled once. The stores call what it returns. */
  observeCalls<R>(run: RunStatement<R>): RunStatement<R>
  /** Called after each run, with the number of rows that the statement returned or changed. */
  ran(query: CompiledQuery, rowCount: number): void
}

export type StatementCompiled = (engine: EngineName, query: CompiledQuery) => void
/** Runs a statement with the values of its parameters, by name, for the organisation if it has one. */
export type RunStatement<R> = (on: Handle, values: object | undefined, org: number | undefined) => Promise<R[]>
/** Declares the statement that consists of the given parts. */
export type BuildVariant<N extends string, Q> = (given: ReadonlySet<N>) => Q

export let statementObserver: StatementObserver | undefined

/** Must be called before the stores are loaded, because they declare their statements then. */
export function observeStatements(observer: StatementObserver): void {
  statementObserver = observer
}

const ignore: StatementCompiled = () => {}

export const declareStatement = (onlyOn?: EngineName): StatementCompiled =>
  statementObserver?.declared(onlyOn) ?? ignore

export const declareVariants = <N extends string, Q>(parts: readonly N[], build: BuildVariant<N, Q>) =>
  statementObserver?.declaredVariants(parts, build) ?? build

export const observeCalls = <R>(run: RunStatement<R>): RunStatement<R> => statementObserver?.observeCalls(run) ?? run
