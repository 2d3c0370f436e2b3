// The size of the console when it is opened, and that it loads nothing from other hosts.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const folder = join(import.meta.dirname, '../../dist/console')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const gzipped = (name: string) => statSync(join(folder, `${name}.gz`)).size

/** A script and everything that it cannot start without. */
function withImports(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  // Static imports only: `import{a as b}from"./x.js"` and `import"./x.js"`.
  for (const [, file] of read(name).matchAll(/(?:^|[;}])import(?:[\w$*{}, ]+from)?"\.\/([\w.-]+\.js)"/g)) {
    withImports(`assets/${file}`, found)
  }
  return found
}

test('the first load is less than 300 KB of compressed script in fewer than 30 files, and every page is loaded when it is opened', () => {
  const [, entry = ''] = /<script type="module"[^>]* src="\.\/([^"]+)"/.exec(read('index.html')) ?? []
  const pages = readdirSync(join(folder, 'assets')).filter((name) => /-page-[\w-]+\.js$/.test(name))
  expect(pages.length).toBeGreaterThanOrEqual(10)
  const overview = pages.find((name) => name.startsWith('overview-page'))
  const first = new Set([...withImports(entry), ...withImports(`assets/${overview}`)])
  expect([...first].filter((name) => /-page-/.test(name))).toEqual([`assets/${overview}`])
  const size = [...first].reduce((sum, name) => sum + gzipped(name), 0)
  process.stdout.write(
    `the console's first load: ${Math.round(size / 1000)} KB of script, compressed, in ${first.size} files\n`,
  )
  expect(size).toBeLessThan(300_000)
  // Every file is a request of its own: without the groups of vite.config.ts there were 42.
  expect(first.size).toBeLessThan(30)
})

test('insights add less than 120 KB of compressed script to the first load, which has no charts', () => {
  const [, entry = ''] = /<script type="module"[^>]* src="\.\/([^"]+)"/.exec(read('index.html')) ?? []
  const names = readdirSync(join(folder, 'assets')).filter((name) => name.endsWith('.js'))
  const pageOf = (start: string) => `assets/${names.find((name) => name.startsWith(start))}`
  const first = new Set([...withImports(entry), ...withImports(pageOf('overview-page-'))])
  expect([...first].filter((name) => read(name).includes('u-select'))).toEqual([])
  const added = [...withImports(pageOf('insights-page-'))].filter((name) => !first.has(name))
  const size = added.reduce((sum, name) => sum + gzipped(name), 0)
  process.stdout.write(`insights add ${Math.round(size / 1000)} KB of script, compressed, in ${added.length} files\n`)
  expect(size).toBeLessThan(120_000)
})

test('nothing is loaded from another server', () => {
  const named = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(html|css)$/.test(name))
    .flatMap((name) => read(name).match(/(?:src|href)="https?:[^"]*|url\(["']?https?:[^)]*/g) ?? [])
  expect(named).toEqual([])
})
