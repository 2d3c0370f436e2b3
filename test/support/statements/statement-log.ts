// Observes statements: which of them returned or changed a row, and which branches on the engine were taken. It runs before each test
// file, and before the first store is loaded. If STATEMENT_NOTES is set, it writes them down in that folder.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { afterAll, expect } from 'vitest'
import type { EngineName } from '../../../src/server/db/engine.ts'
import { observeStatements } from '../../../src/server/db/statement-observer.ts'
import { observedStatements } from './observed-statements.ts'

/** One line of a file in the folder. */
export interface StatementNote {
  readonly file: string
  readonly withRows: Readonly<Record<EngineName, readonly string[]>>
  /** The CPU time of the worker, for those who choose suites by their cost. */
  readonly cpuSeconds: number
}

const folder = process.env.STATEMENT_NOTES

// The modules of a worker stay loaded from one test file to the next, so the first file observes for all.
observeStatements(observedStatements)
const worker = globalThis as { noteEngineBranch?: (name: string, engine: EngineName) => EngineName }
worker.noteEngineBranch = (name, engine) => {
  observedStatements.withRows[engine].add(name)
  return engine
}

const cpuSeconds = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
const cpuBefore = cpuSeconds()

afterAll(() => {
  const { sqlite, postgres } = observedStatements.withRows
  observedStatements.withRows = { sqlite: new Set(), postgres: new Set() }
  if (!folder) return
  const note: StatementNote = {
    file: expect.getState().testPath ?? '',
    withRows: { sqlite: [...sqlite], postgres: [...postgres] },
    cpuSeconds: cpuSeconds() - cpuBefore,
  }
  appendFileSync(join(folder, `${process.pid}-${threadId}.jsonl`), `${JSON.stringify(note)}\n`)
})
