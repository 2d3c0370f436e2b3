// Notes which statements returned or changed a row, and which branches on the engine were taken, in the folder STATEMENT_NOTES if that
// is set. It runs before each test file, and observes before the first store is loaded.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { afterAll, expect } from 'vitest'
import type { EngineName } from '../../../src/server/db/engine.ts'
import { observeStatements } from '../../../src/server/db/statement-observer.ts'
import { ObservedStatements } from './observed-statements.ts'

/** One line of a file in the folder. */
export interface StatementNote {
  readonly file: string
  readonly withRows: Readonly<Record<EngineName, readonly string[]>>
  /** The CPU time of the worker, for those who choose suites by their cost. */
  readonly cpuSeconds: number
}

const folder = process.env.STATEMENT_NOTES

// The modules of a worker stay loaded from one test file to the next, so the observer does too.
const worker = globalThis as {
  observedStatements?: ObservedStatements
  noteEngineBranch?: (name: string, engine: EngineName) => EngineName
}

if (folder && !worker.observedStatements) {
  const observed = new ObservedStatements()
  worker.observedStatements = observed
  worker.noteEngineBranch = (name, engine) => {
    observed.withRows[engine].add(name)
    return engine
  }
  observeStatements(observed)
}

const cpuSeconds = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
const cpuBefore = cpuSeconds()

afterAll(() => {
  const observed = worker.observedStatements
  if (!folder || !observed) return
  const { sqlite, postgres } = observed.withRows
  observed.withRows = { sqlite: new Set(), postgres: new Set() }
  const note: StatementNote = {
    file: expect.getState().testPath ?? '',
    withRows: { sqlite: [...sqlite], postgres: [...postgres] },
    cpuSeconds: cpuSeconds() - cpuBefore,
  }
  appendFileSync(join(folder, `${process.pid}-${threadId}.jsonl`), `${JSON.stringify(note)}\n`)
})
