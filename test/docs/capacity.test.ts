// The capacity table of docs/scaling.md is what the results of the bench give.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { capacityTable } from '../../tools/capacity.ts'

test('the table is computed from the latest bench; if not, paste the output of "node tools/capacity.ts"', () => {
  const document = readFileSync(join(import.meta.dirname, '../../docs/scaling.md'), 'utf8')
  const [, table] = /<!-- capacity: .*? -->\n(.*?)\n<!-- \/capacity -->/s.exec(document) ?? []
  expect(table).toBe(capacityTable())
})
