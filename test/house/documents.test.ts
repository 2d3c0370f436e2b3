// Documents are code: options, links, rule ids and exported names in them are checked against what exists.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { benchNames } from '../../bench/bench-names.ts'
import { fullReport, type Results, summary } from '../../bench/report/markdown-table.ts'
import { readSection } from '../../bench/report/readme-section.ts'
import { models } from '../../src/contract/device/models.ts'
import { driverIds, sourceTypes } from '../../src/contract/fleet/drivers.ts'
import { BasicEndpoint } from '../../src/contract/fleet/endpoints.ts'
import { jobActions, jobActionTypes } from '../../src/contract/jobs/action-table.ts'
import { operationIds } from '../../src/contract/operations.ts'
import { serveOptions } from '../../src/server/config/options.ts'
import { publishers } from '../support/drivers/mqtt-publishers.ts'

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

test('docs/contract.md has the table of job actions as the code has it', () => {
  const connections = { all: 'all endpoints', any: 'one endpoint', none: 'no endpoint' }
  const cells = jobActionTypes.map((type) => {
    const { keys, needs, rollback, connection, stagesRefusedText, waitsForIdle } = jobActions[type]
    return [
      type,
      [...keys.required, ...keys.optional.map((key) => `${key}?`)].map((key) => `\`${key}\``).join(', '),
      needs,
      rollback === null ? 'none' : rollback.isAutomatic ? 'automatic' : 'on request',
      connections[connection],
      stagesRefusedText === null ? 'yes' : 'no',
      stagesRefusedText === null ? (waitsForIdle === 'if it switches off' ? 'if `on` is false' : waitsForIdle) : '',
    ]
  })
  const [, table] = read('docs/contract.md').split('| `type` | keys | needs |')
  const rows = table?.split('\n\n')[0]?.split('\n').slice(2)
  expect(rows).toEqual(cells.map((row) => `|${row.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`))
})

test('docs/contract.md says of each field of a listed endpoint when it is left out', () => {
  const [, section = ''] = read('docs/contract.md').split('**[contract 4.endpointsBasicList]**')
  const [, table = ''] = section.split('| fields | left out |\n|---|---|\n')
  const cells = (table.split('\n\n')[0] ?? '').split('\n').map((row) => row.split(' | ')[0] ?? '')
  const named = cells.flatMap((cell) => cell.match(/`\w+`/g) ?? []).map((name) => name.slice(1, -1))
  expect(named.toSorted()).toEqual(Object.keys(BasicEndpoint.properties).toSorted())
})

/** The links of a document to files of the project: path from the root, and the part after #. */
const linksOf = (path: string) =>
  [...read(path).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].map(([, file = '', heading]) => ({
    file: file === '' ? path : relative(root, join(root, dirname(path), file)),
    heading,
  }))
/** The names that a heading has in links, as GitHub makes them. */
const headingsOf = (path: string) =>
  [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

test('every link between documents leads to a file, and to a heading that it has', () => {
  for (const path of documents) {
    for (const { file, heading } of linksOf(path)) {
      expect(existsSync(join(root, file)), `${path} links to ${file}`).toBe(true)
      if (heading && file.endsWith('.md'))
        expect(headingsOf(file), `${path} links to ${file}#${heading}`).toContain(heading)
    }
  }
})

test('docs/README.md links to every page of docs/, and every document can be reached from the README', () => {
  const index = linksOf('docs/README.md').map(({ file }) => file)
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md')
  expect(pages.filter((name) => !index.includes(`docs/${name}`))).toEqual([])
  const reached = new Set(['README.md'])
  for (const path of reached) {
    if (!path.endsWith('.md')) continue
    for (const { file } of linksOf(path)) reached.add(file)
  }
  expect(documents.filter((path) => !reached.has(path))).toEqual([])
})

test('docs/works-with.md names every driver, type of source and known model, and each publisher whose messages are tested', () => {
  const page = read('docs/works-with.md')
  const names = Object.values(models).map(({ name }) => name)
  expect([...driverIds, ...sourceTypes].filter((id) => !page.includes(`\`${id}\``))).toEqual([])
  expect(names.filter((name) => !new RegExp(`\\b${name}[,\\s]`).test(page))).toEqual([])
  // A document of a publisher begins with its name; the mapping of any JSON is documented in a page of ours.
  const makers = publishers.map(({ documentedIn }) => documentedIn.split(/[ ,]/)[0] ?? '')
  expect(makers.filter((name) => !name.endsWith('.md') && !page.includes(name))).toEqual([])
})

test('docs/troubleshooting.md quotes messages that the program has, and docs/upgrading.md has each version of the changelog', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ts$/.test(name) && !name.endsWith('.test.ts'))
    .map((name) => read(join('src', name)))
    .join('\n')
  const quoted = [...read('docs/troubleshooting.md').matchAll(/^\| `([^`]* [^`]* [^`]*)`/gm)].map(
    ([, text = '']) => text,
  )
  expect(quoted.length).toBeGreaterThan(10)
  const pieces = quoted.flatMap((text) => text.split('…').map((piece) => piece.trim()))
  expect(pieces.filter((piece) => !sources.includes(piece))).toEqual([])
  const versions = [...read('CHANGELOG.md').matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, version]) => version)
  for (const version of versions.slice(0, -1)) expect(read('docs/upgrading.md')).toContain(`→ ${version} |`)
})

test('.ci/run calls the test command of the README', () => {
  const [, command] = /^## Test\n\n```sh\n(.+)\n```$/m.exec(read('README.md')) ?? []
  expect(read('.ci/run').trimEnd().split('\n').at(-1)).toBe(command)
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

test('docs/tasks-and-settings.md names every scheduled task, and says where it runs', () => {
  const code = ['tasks', 'deletion-tasks'].map((name) => read(`src/server/phases/${name}.ts`)).join('\n')
  const inCode = [...code.matchAll(/name: '([^']+)',\s+pauseMs: [^\n]+,\s+runsOn: '([^']+)'/g)]
  expect(inCode, 'every task was found').toHaveLength([...code.matchAll(/\brunsOn: '/g)].length)
  // A row may name several tasks, and say more about the nodes.
  const rows = read('docs/tasks-and-settings.md').matchAll(
    /^\| ([^|]+) \| (every node|one node(?: for each organisation)?)/gm,
  )
  const inDocument = [...rows].flatMap(([, names = '', where]) => names.split(', ').map((name) => `${name}: ${where}`))
  expect(inDocument.toSorted()).toEqual(inCode.map(([, name, where]) => `${name}: ${where}`).toSorted())
})

test('every file and folder of src/ and test/ that ARCHITECTURE.md names exists', () => {
  const paths = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).map((entry) => {
      const path = relative(root, join(entry.parentPath, entry.name))
      return entry.isDirectory() ? `${path}/` : path
    }),
  )
  const text = read('ARCHITECTURE.md').replaceAll(/^```.*?^```$/gms, '')
  const named = [...text.matchAll(/`((?:[\w.{},-]+\/)*(?:[\w.{},-]+\.tsx?|[\w-]+\/))`/g)].flatMap(([, path = '']) =>
    expandBraces(path),
  )
  expect(named.length).toBeGreaterThan(100)
  // A path may be cut off at its front, as far as the sentence before it names the folder.
  const missing = named.filter((name) => !paths.some((path) => path === name || path.endsWith(`/${name}`)))
  expect([...new Set(missing)]).toEqual([])
})

/** `{store,rules}.ts` is `store.ts` and `rules.ts`. */
function expandBraces(path: string): string[] {
  const [, before, list, after] = /^(.*)\{([^}]+)\}(.*)$/.exec(path) ?? []
  return list === undefined ? [path] : list.split(',').map((one) => `${before}${one}${after}`)
}

test('the index of the decisions repeats the title and the status of each page, and pages that supersede others are named there', () => {
  const folder = 'docs/decisions'
  const status = (page: string) =>
    /\n\nStatus: ([\s\S]*?)\n\n/.exec(read(join(folder, page)))?.[1]?.replaceAll('\n', ' ') ?? `${page} has no status`
  const numbersAfter = (word: RegExp, text: string) =>
    text
      .split(';')
      .filter((part) => word.test(part))
      .flatMap((part) => [...part.matchAll(/\[(\d{4})\]/g)].map(([, number]) => number))
  const pages = readdirSync(join(root, folder)).filter((name) => /^\d{4}-/.test(name))
  const rows = [...read(`${folder}/README.md`).matchAll(/^\| \[(\d{4})\]\((.+?)\) \| (.+?) \| (.+) \|$/gm)]
  expect(rows.map(([, , page]) => page)).toEqual(pages)
  for (const [, number, page = '', title, shown = ''] of rows) {
    expect(read(join(folder, page)).split('\n')[0], page).toBe(`# ${number} ${title}`)
    expect(status(page).slice(0, shown.length), `${page}: its status begins as the index says`).toBe(shown)
    for (const older of numbersAfter(/\bsupersedes\b/, shown)) {
      const olderPage = pages.find((name) => name.startsWith(`${older}-`)) ?? ''
      expect(numbersAfter(/\bsuperseded\b/, status(olderPage)), `${olderPage} is superseded`).toContain(number)
    }
    for (const newer of numbersAfter(/\bsuperseded\b/, shown)) {
      const newerPage = pages.find((name) => name.startsWith(`${newer}-`)) ?? ''
      expect(numbersAfter(/\bsupersedes\b/, status(newerPage)), `${newerPage} supersedes`).toContain(number)
    }
  }
})

test('CHANGELOG.md begins with the version of package.json, and each version says first what its users must do', () => {
  const { version } = JSON.parse(read('package.json'))
  expect(JSON.parse(read('package-lock.json'))).toMatchObject({ version, packages: { '': { version } } })
  const sections = [...read('CHANGELOG.md').matchAll(/^## (\d+\.\d+\.\d+)(?:, \d{4}-\d{2}-\d{2})?\n\n(.+)$/gm)]
  expect(sections[0]?.[1]).toBe(version)
  for (const [, name, first] of sections) expect(first, name).toBe('### What you must do')
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
  expect(section.match(/^\| (?!operation )\w/gm)).toHaveLength(8)
  const report = read('bench/results/latest.md')
  expect(report).toBe(fullReport(results))
  const rows = Object.values(results).flatMap(({ rows }) => rows)
  const [table = ''] = report.split('| rows of |')
  expect(table.match(/^\| (?!bench )\w+ \| (?!peer: )/gm)).toHaveLength(rows.length)
})

test('every bench has a stored result with its date, or bench/results/latest.md names it as not measured yet', () => {
  const results: Results = JSON.parse(read('bench/results/latest.json'))
  const report = read('bench/results/latest.md')
  const [, unmeasured = ''] = /^Not measured yet: (.+)\.$/m.exec(report) ?? []
  expect([...Object.keys(results), ...unmeasured.split(', ').filter(Boolean)].sort()).toEqual([...benchNames].sort())
  for (const [name, { at, commit = 'not recorded', rows }] of Object.entries(results)) {
    expect(rows.length, name).toBeGreaterThan(0)
    expect(report).toContain(`\n| ${name} | ${at.slice(0, 10)} | ${commit} |\n`)
  }
})
