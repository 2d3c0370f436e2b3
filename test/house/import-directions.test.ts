// The allowed directions of imports between folders; each failure says what to do instead.
import { expect, test } from 'vitest'
import { areaOf, domainOf, type SourceFile, sourceFiles } from './source-files.ts'

const files = sourceFiles('src')

/** The folders below the domains, which any domain may import, except devices/ and http/. */
const belowDomains = [
  'server/context',
  'server/nodes',
  'server/db',
  'server/bus',
  'server/events',
  'server/auth',
  'server/config',
  'server/outbound',
  'server/core',
] as const

const allDomains = [
  'server/reports',
  'server/channels',
  'server/incidents',
  'server/sensors',
  'server/people',
  'server/jobs',
  'server/fleet',
  'server/journal',
] as const

/** Each folder may import the ones that are listed, and contract/. The rows stand in the order of the house, from the top down. */
const mayImport: Record<string, readonly string[]> = {
  'main.ts': ['cli', 'cli/terminal', 'server/core', 'server/config'],
  cli: [
    'cli/remote',
    'cli/http',
    'cli/terminal',
    'server/app.ts',
    'server/first-start.ts',
    // The demo lives through a week without ports.
    'server/phases',
    'server/maintenance',
    ...allDomains,
    'server/context',
    'server/nodes',
    'server/db',
    'server/bus',
    'server/auth',
    'server/config',
    'server/core',
    'server/devices',
    'server/http',
    'client',
    'apply',
    'plan',
    'simulator',
    'computer',
    'gateway',
  ],
  'cli/remote': ['cli/api', 'cli/context', 'cli/csv', 'cli/mcp', 'cli/plan', 'cli/http', 'cli/terminal'],
  'cli/api': ['cli/http', 'cli/terminal', 'client'],
  'cli/plan': ['cli/http', 'cli/terminal', 'apply', 'plan', 'client'],
  'cli/mcp': ['cli/http', 'cli/terminal', 'mcp'],
  'cli/context': ['cli/http', 'cli/terminal', 'client'],
  'cli/csv': ['cli/http', 'cli/terminal', 'csv', 'apply', 'plan', 'client'],
  'cli/http': ['cli/terminal', 'client'],
  'cli/terminal': [],
  gateway: ['device', 'client', 'network', 'sensor-mapping'],
  simulator: ['device', 'client'],
  computer: ['device', 'client', 'network'],
  device: ['client'],
  console: ['csv', 'apply', 'plan', 'client', 'sensor-mapping'],
  csv: ['apply', 'plan', 'client'],
  apply: ['plan', 'client'],
  'server/app.ts': [
    'server/first-start.ts',
    'server/phases',
    ...allDomains,
    'server/http',
    'server/context',
    'server/config',
    'server/core',
  ],
  'server/phases': ['server/maintenance', ...allDomains, 'server/devices', 'server/http', ...belowDomains],
  'server/first-start.ts': [...allDomains, 'server/context'],
  'server/maintenance': [
    ...allDomains,
    'server/context',
    'server/nodes',
    'server/db',
    'server/bus',
    'server/auth',
    'server/config',
    'server/core',
  ],
  'server/reports': [
    'server/incidents',
    'server/sensors',
    'server/people',
    'server/jobs',
    'server/fleet',
    'server/journal',
    'insight',
    ...belowDomains,
  ],
  'server/channels': [
    'server/incidents',
    'server/sensors',
    'server/people',
    'server/jobs',
    'server/fleet',
    'server/journal',
    ...belowDomains,
  ],
  'server/incidents': [
    'server/sensors',
    'server/people',
    'server/jobs',
    'server/fleet',
    'server/journal',
    'server/devices',
    ...belowDomains,
  ],
  'server/sensors': ['server/fleet', 'server/journal', 'server/devices', ...belowDomains],
  'server/people': ['server/fleet', 'server/journal', 'server/http', ...belowDomains],
  'server/jobs': ['server/fleet', 'server/journal', ...belowDomains],
  'server/fleet': ['server/journal', 'server/devices', ...belowDomains],
  'server/journal': [...belowDomains],
  'server/devices': [
    'server/http',
    'server/context',
    'server/nodes',
    'server/db',
    'server/bus',
    'server/auth',
    'server/config',
    'server/core',
    'network',
  ],
  'server/http': [
    'plan',
    'mcp',
    'server/api-page',
    'server/context',
    'server/nodes',
    'server/db',
    'server/bus',
    'server/events',
    'server/auth',
    'server/config',
    'server/core',
  ],
  'server/api-page': ['server/core'],
  'server/context': [
    'server/nodes',
    'server/db',
    'server/bus',
    'server/events',
    'server/auth',
    'server/config',
    'server/outbound',
    'server/core',
  ],
  'server/nodes': ['server/db', 'server/bus', 'server/config', 'server/core'],
  'server/db': ['server/events', 'server/bus', 'server/config', 'server/core'],
  'server/events': ['server/bus', 'server/core'],
  'server/bus': ['server/core'],
  'server/auth': ['server/core'],
  'server/config': ['server/outbound', 'server/core'],
  'server/outbound': ['server/core', 'network'],
  'server/core': [],
  mcp: ['client'],
  client: [],
  plan: [],
  network: [],
  'sensor-mapping': [],
  insight: [],
  contract: [],
}

test('imports follow the directions of ARCHITECTURE.md', () => {
  expect(files.length).toBeGreaterThan(50)
  const wrong = files.flatMap(({ path, imports }) => {
    const area = areaOf(path)
    const allowed = mayImport[area]
    if (!allowed) return [`${path}: the folder ${area} is new. Add it to ARCHITECTURE.md and to this test.`]
    return imports
      .filter((to) => ![area, 'contract', ...allowed].includes(areaOf(to)))
      .map((to) => `${path} imports ${to}. ${area} may import only ${['contract', ...allowed].join(', ')}.`)
  })
  expect(wrong).toEqual([])
})

test('a row of the table may import rows below it only, and no domain imports itself through others', () => {
  const order = Object.keys(mayImport)
  const isBelow = (area: string, to: string) => order.indexOf(to) > order.indexOf(area)
  const wrong = Object.entries(mayImport).flatMap(([area, allowed]) =>
    allowed.filter((to) => !isBelow(area, to)).map((to) => `${area} may import ${to}, which is not below it`),
  )
  expect(wrong).toEqual([])
})

test('every domain has files, and the rows of the table are the folders that exist', () => {
  const areas = new Set(files.map(({ path }) => areaOf(path)))
  expect(Object.keys(mayImport).filter((area) => !areas.has(area))).toEqual([])
  expect(new Set(files.flatMap(({ path }) => domainOf(path) ?? [])).size).toBe(allDomains.length)
})

test('rules know no HTTP: in a domain, only files that handle requests of Fastify themselves import http/', () => {
  const wrong = files
    .filter(({ path, text }) => domainOf(path) && !/^import .*from 'fastify'$/m.test(text))
    .flatMap(({ path, imports }) =>
      imports
        .filter((to) => areaOf(to) === 'server/http')
        .map((to) => `${path} imports ${to}. Answers and inputs are in context/, failures of callers in auth/.`),
    )
  expect(wrong).toEqual([])
})

test('a store holds SQL and decides nothing: it imports the database, pure functions of core/ and auth/, and SQL and fields of its domain', () => {
  const isSql = (to: string) => /(?:store|-sql|\/fields)\.ts$/.test(to)
  const wrong = files
    .filter(({ path }) => domainOf(path) && path.endsWith('store.ts'))
    .flatMap(({ path, imports }) =>
      imports
        .filter((to) => !['server/db', 'server/core', 'server/auth'].includes(areaOf(to)))
        .filter((to) => !(isSql(to) && [areaOf(path), 'server/nodes'].includes(areaOf(to))))
        .map((to) => `${path} imports ${to}. Decide in the rules, and pass values to the store.`),
    )
  expect(wrong).toEqual([])
})

test('a page of the console stands alone: it imports its own folder, parts/, domain/, api.ts, base-path.ts and session.ts', () => {
  const pages = files.filter((f) => f.path.startsWith('console/pages/'))
  expect(pages.length).toBeGreaterThan(50)
  const isOpenToPages = (to: string) =>
    /^console\/(parts|domain)\//.test(to) ||
    ['console/api.ts', 'console/base-path.ts', 'console/session.ts'].includes(to)
  const wrong = pages.flatMap(({ path, imports }) =>
    imports
      .filter((to) => areaOf(to) === 'console' && pageFolder(to) !== pageFolder(path) && !isOpenToPages(to))
      .map(
        (to) =>
          `${path} imports ${to}. What two pages use moves to console/parts/, or to console/domain/ if it knows rooms, devices or sites.`,
      ),
  )
  expect(wrong).toEqual([])
})

test('the shared folders of the console import no page, and nothing of its shell', () => {
  const wrong = files
    .filter((f) => /^console\/(parts|domain)\//.test(f.path))
    .flatMap(({ path, imports }) =>
      imports
        .filter((to) => /^console\/(pages|shell|live)\/|^console\/(router|main)\.tsx$/.test(to))
        .map(
          (to) =>
            `${path} imports ${to}. Hand it in as a property, or move what is needed to console/parts/ or console/domain/.`,
        ),
    )
  expect(wrong).toEqual([])
})

test('every dynamic import of the console goes through loadCode, so that its failure can be recovered from', () => {
  const imports = files
    .filter(({ path }) => path.startsWith('console/'))
    .flatMap(({ path, text }) => [...text.matchAll(/^.*\bimport\(.*$/gm)].map(([line]) => `${path}: ${line.trim()}`))
  expect(imports.length).toBeGreaterThan(10)
  expect(imports.filter((line) => !line.includes('loadCode(() => import('))).toEqual([])
})

test('no file imports itself through others: what closes a circle belongs into a file of its own', () => {
  for (const folder of ['src', 'bench', 'test', 'tools'] as const) {
    expect(importCircles(sourceFiles(folder)), folder).toEqual([])
  }
})

test('the search for import circles finds one that is there', () => {
  const file = (path: string, ...imports: string[]) => ({ path, imports, text: '' })
  expect(importCircles([file('a', 'b'), file('b', 'c'), file('c', 'b')])).toEqual(['b -> c -> b'])
})

/** Finds circles by a walk in depth: an import of a file that is still on the way closes one. */
function importCircles(all: readonly SourceFile[]): string[] {
  const importsOf = new Map(all.map((f) => [f.path, f.imports]))
  const finished = new Set<string>()
  const circles: string[] = []
  const visit = (path: string, way: readonly string[]) => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' -> '))
    if (finished.has(path) || way.includes(path)) return
    for (const to of importsOf.get(path) ?? []) visit(to, [...way, path])
    finished.add(path)
  }
  for (const { path } of all) visit(path, [])
  return circles
}

/** The folder of a page: its subfolders belong to it. */
const pageFolder = (path: string) => path.split('/').slice(0, 3).join('/')
