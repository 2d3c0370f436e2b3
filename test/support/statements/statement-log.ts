// Notes for each test file which statements returned or changed a row, on which engine, in the folder STATEMENT_NOTES if that is set.
// It runs before each test file, and observes before the first store is loaded.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import type { CompiledQuery } from 'kysely'
import { afterAll, expect } from 'vitest'
import type { EngineName } from '../../../src/server/db/engine.ts'
import { observeStatements, statementObserver } from '../../../src/server/db/statement-observer.ts'

/** A statement is named by the line that declares it. */
interface Declared {
  readonly id: string
  /** For a statement that exists on one engine only. */
  readonly onlyOn?: EngineName
}

export interface StatementNote {
  readonly file: string
  readonly engine: EngineName
  /** The statements that were declared since the note before. */
  readonly declared: readonly Declared[]
  readonly withRows: readonly string[]
}

interface Seen {
  readonly declared: Declared[]
  readonly ids: WeakMap<CompiledQuery, string>
  readonly countAtSite: Map<string, number>
  withRows: Set<string>
}

const folder = process.env.STATEMENT_NOTES

// The modules of a worker stay loaded from one test file to the next, so the observer does too.
const worker = globalThis as { seenStatements?: Seen }

if (folder && !statementObserver) {
  const seen: Seen = { declared: [], ids: new WeakMap(), countAtSite: new Map(), withRows: new Set() }
  worker.seenStatements = seen
  observeStatements({
    declared(onlyOn) {
      const site = callingSite()
      if (!site) return () => {}
      const number = (seen.countAtSite.get(site) ?? 0) + 1
      seen.countAtSite.set(site, number)
      const id = number === 1 ? site : `${site} (${number})`
      seen.declared.push({ id, ...(onlyOn && { onlyOn }) })
      return (_, query) => void seen.ids.set(query, id)
    },
    ran(query, rowCount) {
      if (rowCount === 0) return
      const id = seen.ids.get(query)
      if (id) seen.withRows.add(id)
    },
  })
}

/** The line of the store that declares a statement, outside of the functions that compile it. Tests that declare one return undefined. */
function callingSite(): string | undefined {
  const compiling = /\/db\/(queries\/(query|query-numbers|insert-many)|system|statement-observer)\.ts/
  const ours = (new Error().stack ?? '').split('\n').filter((line) => /\/(src|test)\//.test(line))
  const site = ours.slice(2).find((line) => !compiling.test(line))
  return site?.match(/\/src\/server\/(\S+?(?<!\.test)\.ts:\d+)/)?.[1]
}

afterAll(() => {
  const seen = worker.seenStatements
  if (!folder || !seen) return
  const note: StatementNote = {
    file: expect.getState().testPath ?? '',
    engine: process.env.TEST_ENGINE as EngineName,
    declared: seen.declared.splice(0),
    withRows: [...seen.withRows],
  }
  seen.withRows = new Set()
  appendFileSync(join(folder, `${process.pid}-${threadId}.jsonl`), `${JSON.stringify(note)}\n`)
})
