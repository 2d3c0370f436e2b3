// The dependencies have no known vulnerability, and those of production run no code while they are installed.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))
const locked: Record<string, { dev?: boolean; optional?: boolean }> = readJson('package-lock.json').packages
/** Folders of the packages that a production installation has. */
const folders = Object.entries(locked)
  .filter(([path, { dev, optional }]) => path !== '' && !dev && (!optional || existsSync(join(root, path))))
  .map(([path]) => path)

/** Returns what npm prints, also when it ends with an error. */
const npm = (...args: string[]): Promise<string> =>
  promisify(execFile)('npm', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  )

test('npm audit knows no vulnerability of severity high or critical, packages of development included, where the registry answers', async () => {
  const report = JSON.parse(await npm('audit', '--audit-level=high', '--json'))
  if (report.metadata === undefined) {
    // Mirrors and machines without a network have no advisories. Any other error is a failure.
    expect(report.statusCode ?? 400, JSON.stringify(report)).toBeGreaterThanOrEqual(400)
    expect(JSON.stringify(report)).toMatch(/security\/(advisories|audits)|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/)
    return
  }
  const { high, critical } = report.metadata.vulnerabilities
  expect({ high, critical }, JSON.stringify(report.vulnerabilities)).toEqual({ high: 0, critical: 0 })
})

test('no dependency of production runs a script while it is installed', () => {
  expect(folders.length).toBeGreaterThan(100)
  /** Packages that must run one, with the reason. better-sqlite3 does not: it has a binary for each platform, and `gypfile` is false. */
  const needed: Record<string, string> = {}
  const running = folders.filter((folder) => {
    const { scripts = {}, gypfile } = readJson(`${folder}/package.json`)
    const hasScript = ['preinstall', 'install', 'postinstall'].some((name) => scripts[name] !== undefined)
    // npm compiles a package with this file by itself, unless the package says otherwise.
    const isCompiled = existsSync(join(root, folder, 'binding.gyp')) && gypfile !== false
    return hasScript || isCompiled
  })
  expect(running.filter((folder) => !(folder.replace(/.*node_modules\//, '') in needed))).toEqual([])
  expect(existsSync(join(root, 'node_modules/better-sqlite3/binding.gyp')), 'the rule has a case to hold').toBe(true)
})
