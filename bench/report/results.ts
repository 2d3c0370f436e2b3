// Stores the results of a bench in results/latest.json, and writes results/latest.md and the table of the README from them.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
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

/** Replaces the result of one bench and keeps those of the others. Benches are stored in the order of `names`. */
export function storeResult(name: string, rows: readonly Row[], names: readonly string[]): void {
  const previous: Results = existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {}
  const machine = {
    processor: cpus()[0]?.model.trim() ?? 'unknown processor',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  }
  const all: Results = { ...previous, [name]: { at: new Date().toISOString(), node: process.version, machine, rows } }
  const ordered: Results = Object.fromEntries(names.flatMap((known) => (all[known] ? [[known, all[known]]] : [])))
  mkdirSync(folder, { recursive: true })
  writeFileSync(resultsFile, `${JSON.stringify(ordered, null, 2)}\n`)
  writeReports(ordered)
}

/** Writes both documents that show the results. */
export function writeReports(results: Results): void {
  writeFileSync(reportFile, fullReport(results))
  writeFileSync(readmeFile, replaceSection(readFileSync(readmeFile, 'utf8'), summary(results)))
}
