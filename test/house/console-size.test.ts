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

/** The styles that are loaded with a page. Vite's list of them is in the entry. */
function stylesOf(entry: string, page: string): string[] {
  const text = read(entry)
  const files: string[] = JSON.parse(/m\.f=(\[[^\]]*\])/.exec(text)?.[1] ?? '[]')
  // A page that shares a module with a part that it loads later is one of the exports of its file.
  const [, after = ''] = text.split(`import(\`./${page}\`)`)
  const [, indexes = ''] = /^(?:\.then\(\w+=>\w+\.\w+\))?,__vite__mapDeps\(\[([\d,]+)\]/.exec(after) ?? []
  if (indexes === '') throw new Error(`the styles of ${page} were not found`)
  return indexes.split(',').flatMap((index) => files[Number(index)]?.match(/[\w.-]+\.css$/) ?? [])
}

test('a cold load of a list or the overview is at most 420 KB with one font, in few files, and every page is loaded when it is opened', () => {
  const index = read('index.html')
  const [, entry = ''] = /<script type="module"[^>]* src="\.\/([^"]+)"/.exec(index) ?? []
  const assets = readdirSync(join(folder, 'assets'))
  const pages = assets.filter((name) => /-page-[\w-]+\.js$/.test(name))
  expect(pages.length).toBeGreaterThanOrEqual(10)
  const fonts = assets.filter((name) => /\.(woff2?|ttf|otf)$/.test(name))
  expect(fonts).toEqual([expect.stringMatching(/^inter-[\w-]+\.woff2$/)])
  expect(index).toContain(`rel="preload" href="./assets/${fonts[0]}"`)
  const font = statSync(join(folder, `assets/${fonts[0]}`)).size
  expect(font).toBeLessThanOrEqual(120_000)
  for (const start of ['overview', 'rooms', 'devices', 'incidents', 'jobs', 'audit']) {
    const page = pages.find((name) => name.startsWith(`${start}-page`)) ?? start
    const scripts = new Set([...withImports(entry), ...withImports(`assets/${page}`)])
    expect([...scripts].filter((name) => /-page-/.test(name))).toEqual([`assets/${page}`])
    const styles = new Set([...(index.match(/[\w.-]+\.css/g) ?? []), ...stylesOf(entry, page)])
    const files = ['index.html', ...scripts, ...[...styles].map((name) => `assets/${name}`)]
    // Browsers accept Brotli over HTTPS.
    const size = files.reduce((sum, name) => sum + statSync(join(folder, `${name}.br`)).size, font)
    process.stdout.write(
      `cold load of ${start}: ${Math.round(size / 1000)} KB in ${scripts.size} scripts and ${styles.size} style sheets, with a font of ${Math.round(font / 1000)} KB\n`,
    )
    expect(size).toBeLessThanOrEqual(420_000)
    // Every file is a request of its own. The overview had 42 without the groups of vite.config.ts.
    expect(scripts.size).toBeLessThan(start === 'overview' ? 30 : 45)
  }
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
