// The allowed directions of imports between folders; each failure says what to do instead.
import { expect, test } from 'vitest'
import { areaOf, nounOf, type SourceFile, sourceFiles } from './source-files.ts'

const files = sourceFiles('src')

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
    'server/maintenance',
    'server/resources',
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
    'server/maintenance',
    'server/resources',
    'server/devices',
    'server/http',
    'server/context',
    'server/nodes',
    'server/db',
    'server/bus',
    'server/events',
    'server/auth',
    'server/config',
    'server/outbound',
    'server/core',
  ],
  'server/first-start.ts': ['server/resources', 'server/context'],
  'server/maintenance': [
    'server/resources',
    'server/context',
    'server/nodes',
    'server/db',
    'server/bus',
    'server/auth',
    'server/config',
    'server/core',
  ],
  'server/resources': [
    'server/devices',
    'server/http',
    'server/context',
    'server/nodes',
    'server/db',
    'server/bus',
    'server/events',
    'server/auth',
    'server/config',
    'server/outbound',
    'server/core',
  ],
  'server/devices': [
    'server/http',
    'server/context',
    'server/nodes',
    'server/db',
    'server/bus',
    'server/auth',
    'server/config',
    'server/core',
  ],
  'server/http': [
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
  'server/outbound': ['server/core'],
  'server/core': [],
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

test("a noun reaches another noun only through that noun's store or view, or a file that is made for all", () => {
  const madeForAll = [
    'server/resources/audit/change.ts',
    'server/resources/audit/audited-fields.ts',
    'server/resources/audit/change-result.ts',
    // Everything that channels are told about is written in the commit of its cause.
    'server/resources/channels/endpoint-messages.ts',
    'server/resources/channels/outbox.ts',
    // A device is told its config and its commands in one order.
    'server/resources/bug-reports/upload.ts',
    // A job that ends cancels the reboots that wait for it.
    'server/resources/commands/deferred/cancel-groups.ts',
    'server/resources/configs/effective.ts',
    'server/resources/configs/make-versions.ts',
    // A job refuses keys that a profile locks with the words of endpointsApplyConfig.
    'server/resources/configs/profile-conflict.ts',
    'server/resources/configs/reported.ts',
    'server/resources/configs/sealed-config.ts',
    // A rollback sets keys as endpointsApplyConfig does.
    'server/resources/configs/set-explicit.ts',
    'server/resources/endpoints/pair-groups.ts',
    // A sign-in uses the settings of the provider, and starts and ends sessions.
    'server/resources/identity/settings.ts',
    'server/resources/identity/test-ticket.ts',
    // The engine of incidents works with the rules as the organisation has changed them, and both use its types.
    'server/resources/incident-rules/in-force.ts',
    'server/resources/incidents/engine/types.ts',
    // The air of a room is the same number in its sample and in its incidents.
    'server/resources/sensors/latest/aggregate.ts',
    'server/resources/sensors/slots.ts',
    'server/resources/places/site-filter.ts',
    'server/resources/places/versions.ts',
    'server/resources/places/visible-after.ts',
    // A region or a location that is deleted is removed from whatever names it.
    'server/resources/regions/deleted-place.ts',
    'server/resources/regions/requested-regions.ts',
    'server/resources/rooms/enrolment-code.ts',
    // Reboots and jobs wait for idle rooms.
    'server/resources/rooms/use/room-use.ts',
    'server/resources/sessions/user-session-store.ts',
    // The first attempt to send a message shows its incident as it is then.
    'server/resources/incidents/current-content.ts',
    // The delivery holds messages about incidents that are silenced.
    'server/resources/incidents/silenced.ts',
    // The engine of incidents, and what people do about them, must know what is silenced.
    'server/resources/silences/in-force.ts',
    // Every way to sign in starts a session, and records refusals.
    'server/resources/sessions/browser-name.ts',
    'server/resources/sessions/browser-sessions.ts',
    'server/resources/sessions/refresh-token.ts',
    'server/resources/sessions/refusals.ts',
    'server/resources/sessions/rules.ts',
    'server/resources/sessions/sign-in-context.ts',
    'server/resources/sessions/user-sessions.ts',
    'server/resources/users/end-sessions.ts',
    // A person who removes a passkey must leave an owner who can sign in.
    'server/resources/users/owners.ts',
  ]
  const wrong = files
    .filter((f) => areaOf(f.path) === 'server/resources')
    // The effects of a job are what people do otherwise, so they call the rules of other nouns.
    .filter((f) => !f.path.startsWith('server/resources/jobs/engine/effects/'))
    .flatMap(({ path, imports }) =>
      imports
        .filter((to) => areaOf(to) === 'server/resources' && nounOf(to) !== nounOf(path))
        .filter((to) => !/[/-](store|view)\.ts$/.test(to) && !madeForAll.includes(to))
        .map((to) => `${path} imports ${to}. Call its store, or let app.ts join the two.`),
    )
  expect(wrong).toEqual([])
})

test('a store holds SQL and decides nothing: it imports only the database and stores of its noun', () => {
  const open = [
    'server/auth/token-holder.ts',
    'server/core/uuid.ts',
    'server/nodes/presence-sql.ts',
    'server/nodes/reconnect-times.ts',
    'server/resources/incidents/engine/observations/restart-sql.ts',
    'server/resources/jobs/engine/rollback/touched-sql.ts',
    'server/resources/places/site-filter.ts',
  ]
  const isSqlOfItsNoun = (path: string, to: string) =>
    nounOf(to) === nounOf(path) && /(store|room-at|fields)\.ts$/.test(to)
  const wrong = files
    .filter((f) => /^server\/resources\/.*store\.ts$/.test(f.path))
    .flatMap(({ path, imports }) =>
      imports
        .filter((to) => !to.startsWith('server/db/') && !open.includes(to) && !isSqlOfItsNoun(path, to))
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
