// Compares the faults in docs/snmp-and-reach.md with those of the two drivers.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const codes = /(?:ups|certificate|http)\.[a-z]\w*/gi

test('docs/snmp-and-reach.md has a row for every fault of the drivers', () => {
  const inCode = ['snmp', 'reach'].flatMap((driver) => {
    const folder = join(root, 'src/gateway/drivers', driver)
    const files = readdirSync(folder).filter((name) => !name.endsWith('.test.ts'))
    return files.flatMap((name) =>
      [...readFileSync(join(folder, name), 'utf8').matchAll(/code: '([^']+)'/g)].map(([, code]) => code as string),
    )
  })
  const rows =
    readFileSync(join(root, 'docs/snmp-and-reach.md'), 'utf8').match(/^\| `(?:ups|certificate|http)\..*$/gm) ?? []
  const inDocument = rows.flatMap((row) => row.match(codes) ?? [])
  expect(inCode.length).toBeGreaterThan(15)
  expect([...new Set(inCode)].sort()).toEqual(inDocument.toSorted())
})
