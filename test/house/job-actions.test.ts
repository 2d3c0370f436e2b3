// Adding an action to jobs must not mean remembering places: the compiler names each table that needs a line.
import { expect, test } from 'vitest'
import { jobActionTypes } from '../../src/contract/jobs/action-table.ts'
import { sourceFiles } from './source-files.ts'

test('no code of jobs compares the type of an action: it reads a property of the table of actions', () => {
  const files = sourceFiles('src').filter(({ path }) =>
    /^(server|console\/domain|console\/pages|contract)\/jobs\//.test(path),
  )
  expect(files.length).toBeGreaterThan(50)
  const comparison = new RegExp(`(?:[!=]==|case|includes\\() *'(?:${jobActionTypes.join('|')})'`)
  const wrong = files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .filter((line) => comparison.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )
  expect(
    wrong,
    'Add a property to src/contract/jobs/action-table.ts, or a function to a table with a line for each',
  ).toEqual([])
})
