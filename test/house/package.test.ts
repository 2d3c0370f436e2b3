// The package as npm would install it: below node_modules, where Node does not strip types by itself.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-package-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the packed package runs from node_modules, and holds no tests', async () => {
  // The console is there already: building it once more would take it away from tests that serve it.
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await run('npm', pack, { cwd: root })
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[')))
  const names = packed.files.map((f: { path: string }) => f.path)
  expect(names.filter((name: string) => /\.test\.ts$|^test\//.test(name))).toEqual([])
  expect(names).toEqual(expect.arrayContaining(['LICENSE', 'dist/console/index.html', 'dist/console/index.html.br']))
  expect(names.filter((name: string) => /^(src\/console|tools|docs\/screenshots)\//.test(name))).toEqual([])

  const home = join(folder, 'node_modules/roomkeeper')
  mkdirSync(home, { recursive: true })
  await run('tar', ['-xzf', join(folder, packed.filename), '-C', home, '--strip-components=1'])
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'))
  const program = (...args: string[]) => run(process.execPath, [join(home, 'bin/roomkeeper.js'), ...args])
  const help = await program('--help')
  expect(help.stdout).toContain('roomkeeper serve')
  expect(help.stderr).toBe('')
  const org = await program('org', 'create', 'Packed', '--json', '--data-dir', join(folder, 'data'))
  expect(JSON.parse(org.stdout).name).toBe('Packed')
  const backup = await program('backup', join(folder, 'backup.tar'), '--json', '--data-dir', join(folder, 'data'))
  expect(JSON.parse(backup.stdout).engine).toBe('sqlite')
}, 60_000)
