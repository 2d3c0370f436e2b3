// Stores the results of a bench in results/latest.json, and writes results/latest.md and the table of the README from them.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { type BenchName, benchNames } from '../bench-names.ts'
import type { Row } from '../measure/figures.ts'
import { fullReport, type Results, summary } from './markdown-table.ts'
import { replaceSection } from './readme-section.ts'

const folder = join(import.meta.dirname, '../results')
const resultsFile = join(folder, 'latest.json')
const reportFile = join(folder, 'latest.md')
const readmeFile = join(import.meta.dirname, '../../README.md')

export function deleteResults(): void {
  rmSync(resultsFile, { force: true })
}

/** The commit that is checked out; with a plus sign if files differ from it. Undefined outside of a repository. */
function currentCommit(): string | undefined {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim()
  try {
    // The results themselves differ as soon as the first bench is stored.
    const changes = git(
      'status',
      '--porcelain',
      '--untracked-files=no',
      '--',
      ':/',
      ':(top,exclude)bench/results',
      ':(top,exclude)README.md',
    )
    return `${git('rev-parse', '--short=8', 'HEAD')}${changes === '' ? '' : '+'}`
  } catch {
    return undefined
  }
}

/** Replaces the result of one bench and keeps those of the others, in the order of `benchNames`. */
export function storeResult(name: BenchName, rows: readonly Row[]): void {
  const previous: Results = existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {}
  const machine = {
    processor: cpus()[0]?.model.trim() ?? 'unknown processor',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  }
  const commit = currentCommit()
  const measured = { at: new Date().toISOString(), ...(commit && { commit }), node: process.version, machine, rows }
  const all: Results = { ...previous, [name]: measured }
  const ordered: Results = Object.fromEntries(benchNames.flatMap((known) => (all[known] ? [[known, all[known]]] : [])))
  mkdirSync(folder, { recursive: true })
  writeFileSync(resultsFile, `${JSON.stringify(ordered, null, 2)}\n`)
  writeReports(ordered)
}

/** Writes both documents that show the results. */
export function writeReports(results: Results): void {
  writeFileSync(reportFile, fullReport(results))
  writeFileSync(readmeFile, replaceSection(readFileSync(readmeFile, 'utf8'), summary(results)))
}
