// The gate after a run of all tests: every statement returned or changed a row on both databases.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CompiledQuery } from 'kysely'
import { expect, test } from 'vitest'
import { findUnproved } from '../../tools/statement-gate.ts'
import { engineBranchesIn } from '../support/statements/engine-branches.ts'
import { ObservedStatements } from '../support/statements/observed-statements.ts'
import type { StatementNote } from '../support/statements/statement-log.ts'

const noteOf = (withRows: Partial<StatementNote['withRows']>): StatementNote => ({
  file: 'x.db.test.ts',
  withRows: { sqlite: [], postgres: [], ...withRows },
  cpuSeconds: 1,
})

test('a statement needs rows on both databases, from any worker, unless it exists on one only', () => {
  const lines = readFileSync(join(import.meta.dirname, '../../src/server/incidents/store.ts'), 'utf8').split('\n')
  const find = `incidents/store.ts:${lines.findIndex((line) => line.includes('const findIncident =')) + 1}`
  const declared = new Map([
    [find, undefined],
    ['sensors/history/store.ts:109', 'postgres' as const],
  ])
  const notes = [noteOf({ sqlite: [find] }), noteOf({ postgres: ['sensors/history/store.ts:109'] })]
  expect(findUnproved(declared, notes)).toEqual([
    `No test lets the statement findIncident in ${find} return or change a row on PostgreSQL.`,
  ])
  expect(findUnproved(declared, [...notes, noteOf({ postgres: [find] })])).toEqual([])
})

test('a branch on the engine must be taken on both databases', () => {
  const text = "const x = 1\nif (this.#db.engine === 'sqlite') return\nq.$if(engine === 'postgres', lock)"
  const names = engineBranchesIn('/project/src/server/nodes/x.ts', text)
  expect(names).toEqual(['branch on the engine in nodes/x.ts:2', 'branch on the engine in nodes/x.ts:3'])
  expect(
    findUnproved(new Map(names.map((name) => [name, undefined])), [
      noteOf({ sqlite: names, postgres: names.slice(1) }),
    ]),
  ).toEqual(['No test takes the branch on the engine in nodes/x.ts:2 on PostgreSQL.'])
  expect(engineBranchesIn('/project/src/server/nodes/x.test.ts', text)).toEqual([])
})

test('a name that no store declares fails the run, because names that disagree prove nothing', () => {
  expect(findUnproved(new Map(), [noteOf({ sqlite: ['regions/store.ts:1'] })])).toEqual([
    'No store declares regions/store.ts:1.',
  ])
})

test('a run without rows proves nothing, and rows count for the engine that the statement was compiled for', () => {
  const observed = new ObservedStatements()
  const query = CompiledQuery.raw('select 1')
  // Only stores have names. The function stands for one, because a test has none.
  const declareAsStore = new Function('observed', 'return observed.declared()\n//# sourceURL=/src/server/x/store.ts')
  declareAsStore(observed)('postgres', query)
  const [[name] = []] = observed.declarations
  expect(name).toMatch(/^x\/store\.ts:\d+$/)
  observed.ran(query, 0)
  expect(observed.withRows.postgres).toEqual(new Set())
  observed.ran(query, 2)
  expect(observed.withRows).toEqual({ sqlite: new Set(), postgres: new Set([name]) })
})

test('each part of a statement with variants needs rows, in any combination', () => {
  const observed = new ObservedStatements()
  const declareAsStore = new Function(
    'observed',
    'build',
    "return observed.declaredVariants(['rule', 'state'], build)\n//# sourceURL=/src/server/x/store.ts",
  )
  const queries: CompiledQuery[] = []
  const build = declareAsStore(observed, () => {
    const query = CompiledQuery.raw('select 1')
    observed.declared(undefined)('sqlite', query)
    queries.push(query)
  })
  const names = [...observed.declarations.keys()]
  const [withRule, withState, alone] = names
  expect(names).toEqual([
    expect.stringMatching(/ with rule$/),
    expect.stringMatching(/ with state$/),
    expect.stringMatching(/:\d+$/),
  ])
  build(new Set(['state']))
  observed.ran(queries.at(-1) as CompiledQuery, 1)
  expect(observed.withRows.sqlite).toEqual(new Set([alone, withState]))
  build(new Set(['rule']))
  observed.ran(queries.at(-1) as CompiledQuery, 1)
  expect(observed.withRows.sqlite).toEqual(new Set([alone, withState, withRule]))
})
