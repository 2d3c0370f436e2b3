// Every way to start the service gives Node the same options.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')

test('the scripts of package.json give Node the options of the first line of bin/roomkeeper.js', () => {
  const [, command = ''] = /^#!\/usr\/bin\/env -S (node .*)/.exec(read('bin/roomkeeper.js')) ?? []
  expect(command).toMatch(/^node --/)
  const scripts: Record<string, string> = JSON.parse(read('package.json')).scripts
  const starts = Object.entries(scripts).filter(([name]) => ['start', 'roomkeeper', 'demo'].includes(name))
  expect(starts).toHaveLength(3)
  for (const [name, script] of starts) expect(script, name).toContain(`${command} bin/roomkeeper.js`)
})

test('servers that tests start as a process have them too', () => {
  const [, options = ''] = /^#!\/usr\/bin\/env -S node (.*)/.exec(read('bin/roomkeeper.js')) ?? []
  expect(read('test/support/program.ts')).toContain(`const nodeOptions = ['${options}']`)
})
