// The directions between the rooms of the house, held by a test that says what to do instead.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

const source = join(import.meta.dirname, '../../src')

interface File {
  readonly path: string
  readonly text: string
  /** Our own files that it imports, relative to src/. */
  readonly imports: readonly string[]
}

const files: File[] = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts'))
  .map((path) => {
    const text = readFileSync(join(source, path), 'utf8')
    const imports = [...text.matchAll(/^(?:import|export)\b[^'"]*?from '(\.[^']+)'/gms)].map((m) =>
      relative(source, join(dirname(join(source, path)), m[1] as string)),
    )
    return { path, text, imports }
  })

/** The folder that a direction is about: below src/server its second folder, elsewhere its first. */
function roomOf(path: string): string {
  const [first, second = ''] = path.split('/')
  if (first !== 'server') return first as string
  return path.split('/').length > 2 ? `server/${second}` : path
}

const noun = (path: string) => path.split('/')[2] as string

/** Each folder may import the ones that are listed, and contract/. */
const mayImport: Record<string, readonly string[]> = {
  'main.ts': ['cli', 'server/core', 'server/config'],
  contract: [],
  client: [],
  device: ['client'],
  simulator: ['device', 'client'],
  console: ['client'],
  cli: [
    'server/app.ts',
    'server/first-start.ts',
    'server/resources',
    'server/context',
    'server/db',
    'server/auth',
    'server/config',
    'server/core',
    'server/http',
    'client',
    'simulator',
  ],
  'server/app.ts': [
    'server/first-start.ts',
    'server/phases',
    'server/resources',
    'server/http',
    'server/context',
    'server/config',
    'server/core',
  ],
  'server/phases': [
    'server/resources',
    'server/devices',
    'server/http',
    'server/context',
    'server/db',
    'server/events',
    'server/auth',
    'server/config',
    'server/core',
  ],
  'server/first-start.ts': ['server/resources', 'server/context'],
  'server/resources': [
    'server/devices',
    'server/http',
    'server/context',
    'server/db',
    'server/events',
    'server/auth',
    'server/config',
    'server/core',
  ],
  'server/devices': ['server/http', 'server/context', 'server/db', 'server/auth', 'server/config', 'server/core'],
  'server/http': [
    'server/api-page',
    'server/context',
    'server/db',
    'server/events',
    'server/auth',
    'server/config',
    'server/core',
  ],
  'server/api-page': ['server/core'],
  'server/context': ['server/db', 'server/events', 'server/auth', 'server/config', 'server/core'],
  'server/db': ['server/events', 'server/config', 'server/core'],
  'server/events': ['server/core'],
  'server/auth': ['server/core'],
  'server/config': ['server/core'],
  'server/core': [],
}

test('imports follow the directions of ARCHITECTURE.md', () => {
  expect(files.length).toBeGreaterThan(50)
  const wrong = files.flatMap(({ path, imports }) => {
    const room = roomOf(path)
    const allowed = mayImport[room]
    if (!allowed) return [`${path}: the room ${room} is new. Add it to ARCHITECTURE.md and to this test.`]
    return imports
      .filter((to) => ![room, 'contract', ...allowed].includes(roomOf(to)))
      .map((to) => `${path} imports ${to}. ${room} may import only ${['contract', ...allowed].join(', ')}.`)
  })
  expect(wrong).toEqual([])
})

test("a noun reaches another noun only through that noun's store or view, or a file that is made for all", () => {
  const madeForAll = [
    'server/resources/audit/change.ts',
    // A device is told its config and its commands in one order.
    'server/resources/bug-reports/upload.ts',
    'server/resources/configs/make-versions.ts',
    'server/resources/configs/reported.ts',
    'server/resources/configs/sealed-config.ts',
    'server/resources/places/site-filter.ts',
    'server/resources/places/versions.ts',
    'server/resources/rooms/enrolment-code.ts',
  ]
  const wrong = files
    .filter((f) => roomOf(f.path) === 'server/resources')
    .flatMap(({ path, imports }) =>
      imports
        .filter((to) => roomOf(to) === 'server/resources' && noun(to) !== noun(path))
        .filter((to) => !/\/(store|view)\.ts$/.test(to) && !madeForAll.includes(to))
        .map((to) => `${path} imports ${to}. Call its store, or let app.ts join the two.`),
    )
  expect(wrong).toEqual([])
})

test('a store holds SQL and decides nothing: it imports only the database and stores of its noun', () => {
  const open = ['server/auth/keyring.ts', 'server/core/uuid.ts', 'server/resources/places/site-filter.ts']
  const isSqlOfItsNoun = (path: string, to: string) => noun(to) === noun(path) && /(store|room-at)\.ts$/.test(to)
  const wrong = files
    .filter((f) => /^server\/resources\/.*store\.ts$/.test(f.path))
    .flatMap(({ path, imports }) =>
      imports
        .filter((to) => !to.startsWith('server/db/') && !open.includes(to) && !isSqlOfItsNoun(path, to))
        .map((to) => `${path} imports ${to}. Decide in the rules, and pass values to the store.`),
    )
  expect(wrong).toEqual([])
})

test('a page of the console stands alone: it imports its own folder, parts/, domain/, api.ts and session.ts', () => {
  const pages = files.filter((f) => f.path.startsWith('console/pages/'))
  expect(pages.length).toBeGreaterThan(50)
  const isOpenToPages = (to: string) =>
    /^console\/(parts|domain)\//.test(to) || ['console/api.ts', 'console/session.ts'].includes(to)
  const wrong = pages.flatMap(({ path, imports }) =>
    imports
      .filter((to) => roomOf(to) === 'console' && dirname(to) !== dirname(path) && !isOpenToPages(to))
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

test('a noun writes only its own tables', () => {
  // The one exception writes the tables of several nouns, and only their version column.
  const versions = 'server/resources/places/versions.ts'
  const { text } = files.find((f) => f.path === versions) as File
  expect(text).not.toMatch(/\b(?:insertInto|deleteFrom|writeMany)\(/)
  const assignments = [...text.matchAll(/\.set\(.*/g)].map((m) => m[0])
  expect(new Set(assignments)).toEqual(new Set([".set((e) => ({ version: e('version', '+', 1) }))"]))
  const owners: Record<string, readonly string[]> = {
    audit: ['audit_log', 'audit_heads'],
    'bug-reports': ['bug_reports', 'bug_report_items'],
    configs: ['endpoint_configs', 'config_versions'],
    endpoints: ['endpoints', 'endpoint_rooms', 'credential_directory', 'serial_directory'],
    keys: ['api_keys', 'key_directory'],
    locations: ['locations'],
    notes: ['room_notes'],
    commands: ['operations'],
    orgs: ['orgs'],
    profiles: ['profiles'],
    regions: ['regions'],
    rooms: ['rooms', 'dec_directory', 'dec_past'],
    sensors: [
      'samples',
      'samples_latest',
      'sample_quarters',
      'sample_hours',
      'sample_days',
      'sample_due',
      'sample_progress',
    ],
    sessions: ['sessions', 'login_links'],
    users: ['users', 'user_regions'],
  }
  const wrong = files
    .filter((f) => roomOf(f.path) === 'server/resources' && f.path !== versions)
    .flatMap(({ path, text }) => {
      const owner = noun(path)
      const written = [...text.matchAll(/\b(?:insertInto|updateTable|deleteFrom|writeMany)\('(\w+)'/g)].map(
        (m) => m[1] as string,
      )
      return written.filter((table) => !owners[owner]?.includes(table)).map((table) => `${path} writes ${table}`)
    })
  expect(wrong).toEqual([])
})

test('only change() opens an audited transaction, and only the named ones open an unaudited one', () => {
  const users = (pattern: RegExp) =>
    files
      .filter((f) => pattern.test(f.text))
      .map((f) => f.path)
      .sort()
  expect(users(/\bdb\.transaction\(async/)).toEqual(['server/resources/audit/change.ts'])
  expect(users(/\.telemetry\(/)).toEqual([
    'server/resources/bug-reports/upload.ts',
    'server/resources/commands/progress.ts',
    'server/resources/configs/reported.ts',
    'server/resources/endpoints/presence.ts',
    'server/resources/sensors/rollups/retention.ts',
    'server/resources/sensors/rollups/roll-up.ts',
  ])
  expect(users(/\.systemTransaction\(/)).toEqual([
    'server/db/database-secrets.ts',
    'server/db/disk-probe.ts',
    'server/resources/audit/change.ts',
    'server/resources/bug-reports/retention.ts',
    'server/resources/commands/progress.ts',
    'server/resources/endpoints/presence.ts',
    'server/resources/keys/last-used.ts',
    'server/resources/sensors/ingest/intake.ts',
    'server/resources/sensors/rollups/horizon.ts',
    'server/resources/sensors/rollups/retention.ts',
    'server/resources/sessions/retention.ts',
  ])
  expect(users(/\.alterTable\(/)).toEqual(['server/resources/sensors/rollups/partitions.ts'])
  expect(users(/new Tx\(/)).toEqual(['server/db/db.ts', 'server/db/system.ts'])
})

test('only the files that look up keys, sessions, devices and codes, and scheduled tasks, reach beyond one organisation', () => {
  const importers = files.filter((f) => f.imports.includes('server/db/system.ts')).map((f) => f.path)
  expect(importers.sort()).toEqual([
    'server/db/database-secrets.ts',
    'server/db/db.ts',
    'server/db/disk-probe.ts',
    'server/db/insert-many.ts',
    'server/resources/audit/change.ts',
    'server/resources/bug-reports/store.ts',
    'server/resources/commands/store.ts',
    'server/resources/configs/store.ts',
    'server/resources/endpoints/device-store.ts',
    'server/resources/endpoints/enrol.ts',
    'server/resources/keys/store.ts',
    'server/resources/orgs/rules.ts',
    'server/resources/orgs/store.ts',
    'server/resources/rooms/store.ts',
    'server/resources/sensors/ingest/store.ts',
    'server/resources/sensors/rollups/retention-store.ts',
    'server/resources/sessions/store.ts',
  ])
})

test('a work in a transaction asks its own handle: the reader does not see what shares its commit', () => {
  const works = files
    .filter((f) => roomOf(f.path) === 'server/resources')
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\b(?:change|changeNewOrg|telemetry|transaction|systemTransaction)\((?=.*=>)/g)].map((m) => ({
        path,
        work: insideParentheses(text.slice(m.index)),
      })),
    )
  expect(works.length).toBeGreaterThan(30)
  const wrong = works.filter(({ work }) => /\bdb\b/.test(work)).map(({ path, work }) => `${path}: ${work}`)
  expect(wrong).toEqual([])
})

function insideParentheses(text: string): string {
  let depth = 0
  for (const [i, character] of [...text].entries()) {
    if (character === '(') depth++
    if (character === ')' && --depth === 0) return text.slice(0, i)
  }
  return text
}

test('only main.ts reads the environment or ends the process', () => {
  const wrong = files
    .filter((f) => f.path !== 'main.ts' && /process\.(env|exit|exitCode)\b/.test(f.text))
    .map((f) => f.path)
  expect(wrong).toEqual([])
})

test('every file says its job in its first line and stays under 300 lines', () => {
  for (const { path, text } of files) {
    expect(text, `${path}: begin with a comment that says its job`).toMatch(/^\/\/ \S.{10,}/)
    expect(text.split('\n').length, `${path}: split it by verb`).toBeLessThanOrEqual(300)
  }
})

test('no folder or file is named after nothing: utils, common, shared, helper, manager', () => {
  expect(files.map((f) => f.path).filter((p) => /util|common|shared|helper|manager/i.test(p))).toEqual([])
})
