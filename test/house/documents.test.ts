// Documents are code: options, links, rule ids and exported names in them are checked against what exists.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { fullReport, type Results, summary } from '../../bench/report/markdown-table.ts'
import { readSection } from '../../bench/report/readme-section.ts'
import { operationIds } from '../../src/contract/operations.ts'
import { serveOptions } from '../../src/server/config/options.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const documents = [
  'bench/README.md',
  'bench/results/latest.md',
  'bench/results/profiles.md',
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

test('docs/operations.md lists every option with its variable, default and meaning', () => {
  const rows = read('docs/operations.md')
    .split('\n')
    .filter((line) => line.startsWith('| `--'))
  expect(rows).toEqual(
    serveOptions.map(
      (o) => `| \`${o.flag}\` | \`${o.env}\` | ${o.default === undefined ? '' : `${o.default} `}| ${o.help} |`,
    ),
  )
})

test('every link between documents leads somewhere', () => {
  for (const path of documents) {
    for (const [, target] of read(path).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)) {
      expect(existsSync(join(root, dirname(path), target as string)), `${path} links to ${target}`).toBe(true)
    }
  }
})

test('every rule that code and tests cite stands in docs/contract.md', () => {
  const contract = read('docs/contract.md')
  const sources = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${folder}/${name}`),
  )
  const missing = sources.flatMap((path) =>
    [...read(path).matchAll(/\[(?:interface|contract) [A-Z]?[\w.]+\]/g)]
      .map(([id]) => id)
      .filter((id) => !contract.includes(`**${id}**`) && !contract.includes(`${id} `) && !contract.includes(`${id}\n`))
      .map((id) => `${path} cites ${id}`),
  )
  expect([...new Set(missing)]).toEqual([])
})

test('docs/contract.md names every operation', () => {
  const contract = read('docs/contract.md')
  expect(operationIds.filter((id) => !contract.includes(id))).toEqual([])
})

test('nothing points outside the project, and the lock file names no registry', () => {
  for (const path of [...documents, 'package-lock.json', 'package.json']) {
    expect(read(path), path).not.toMatch(/\.\.\/shared|"resolved":|\/work\//)
  }
})

test('the README shows eight rows of bench/results/latest.json, and bench/results/latest.md shows all of them', () => {
  const results: Results = JSON.parse(read('bench/results/latest.json'))
  const section = readSection(read('README.md'))
  expect(section).toBe(summary(results))
  expect(section.match(/^\| (?!bench )\w/gm)).toHaveLength(8)
  const report = read('bench/results/latest.md')
  expect(report).toBe(fullReport(results))
  const rows = Object.values(results).flatMap(({ rows }) => rows)
  expect(report.match(/^\| (?!bench )\w+ \| (?!peer: )/gm)).toHaveLength(rows.length)
})
