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
    'server/auth',
    'server/bus',
    'server/config',
    'server/context',
    'server/core',
    'server/db',
    'server/devices',
    'server/first-start.ts',
    'server/http',
    'server/maintenance',
    'server/nodes',
    'server/resources',
    'client',
    'simulator',
  ],
  'server/app.ts': [
    'server/config',
    'server/context',
    'server/core',
    'server/first-start.ts',
    'server/http',
    'server/phases',
    'server/resources',
  ],
  'server/phases': [
    'server/auth',
    'server/bus',
    'server/config',
    'server/context',
    'server/core',
    'server/db',
    'server/devices',
    'server/events',
    'server/http',
    'server/maintenance',
    'server/nodes',
    'server/outbound',
    'server/resources',
  ],
  'server/first-start.ts': ['server/resources', 'server/context'],
  'server/maintenance': [
    'server/auth',
    'server/bus',
    'server/config',
    'server/context',
    'server/core',
    'server/db',
    'server/nodes',
    'server/resources',
  ],
  'server/resources': [
    'server/auth',
    'server/bus',
    'server/config',
    'server/context',
    'server/core',
    'server/db',
    'server/devices',
    'server/events',
    'server/http',
    'server/nodes',
    'server/outbound',
  ],
  'server/devices': [
    'server/auth',
    'server/bus',
    'server/config',
    'server/context',
    'server/core',
    'server/db',
    'server/http',
    'server/nodes',
  ],
  'server/http': [
    'server/api-page',
    'server/auth',
    'server/bus',
    'server/config',
    'server/context',
    'server/core',
    'server/db',
    'server/events',
    'server/nodes',
  ],
  'server/api-page': ['server/core'],
  'server/context': [
    'server/auth',
    'server/bus',
    'server/config',
    'server/core',
    'server/db',
    'server/events',
    'server/nodes',
    'server/outbound',
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
    'server/journal/audit/audited-fields.ts',
    'server/journal/audit/change-result.ts',
    'server/journal/audit/change.ts',
    // Everything that channels are told about is written in the commit of its cause.
    'server/fleet/endpoints/endpoint-messages.ts',
    'server/journal/outbox/outbox.ts',
    // A device is told its config and its commands in one order.
    'server/fleet/bug-reports/upload.ts',
    // A job that ends cancels the reboots that wait for it.
    'server/fleet/commands/deferred/cancel-groups.ts',
    'server/fleet/configs/effective.ts',
    'server/fleet/configs/make-versions.ts',
    // A job refuses keys that a profile locks with the words of endpointsApplyConfig.
    'server/fleet/configs/profile-conflict.ts',
    'server/fleet/configs/reported.ts',
    'server/fleet/configs/sealed-config.ts',
    // A rollback sets keys as endpointsApplyConfig does.
    'server/fleet/configs/set-explicit.ts',
    'server/fleet/endpoints/pair-groups.ts',
    // A sign-in uses the settings of the provider, and starts and ends sessions.
    'server/people/identity/settings.ts',
    'server/people/identity/test-ticket.ts',
    // The engine of incidents works with the rules as the organisation has changed them, and both use its types.
    'server/incidents/engine/types.ts',
    'server/incidents/incident-rules/in-force.ts',
    // The air of a room is the same number in its sample and in its incidents.
    'server/core/time/slots.ts',
    'server/db/queries/site-filter.ts',
    'server/journal/places/versions.ts',
    'server/journal/places/visible-after.ts',
    'server/sensors/latest/aggregate.ts',
    // A region or a location that is deleted is removed from whatever names it.
    'server/fleet/deleted-place.ts',
    'server/fleet/regions/requested-regions.ts',
    'server/fleet/rooms/enrolment-code.ts',
    // Reboots and jobs wait for idle rooms.
    'server/fleet/rooms/use/room-use.ts',
    'server/people/sessions/user-session-store.ts',
    // The first attempt to send a message shows its incident as it is then.
    'server/incidents/current-content.ts',
    // The delivery holds messages about incidents that are silenced.
    'server/incidents/silenced.ts',
    // The engine of incidents, and what people do about them, must know what is silenced.
    'server/incidents/silences/in-force.ts',
    // Every way to sign in starts a session, and records refusals.
    'server/people/sessions/browser-name.ts',
    'server/people/sessions/browser-sessions.ts',
    'server/people/sessions/refresh-token.ts',
    'server/people/sessions/refusals.ts',
    'server/people/sessions/rules.ts',
    'server/people/sessions/sign-in-context.ts',
    'server/people/sessions/user-sessions.ts',
    'server/people/users/end-sessions.ts',
    // A person who removes a passkey must leave an owner who can sign in.
    'server/people/users/owners.ts',
  ]
  const wrong = files
    .filter((f) => areaOf(f.path) === 'server/resources')
    // The effects of a job are what people do otherwise, so they call the rules of other nouns.
    .filter((f) => !f.path.startsWith('server/jobs/engine/effects/'))
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
    'server/db/queries/site-filter.ts',
    'server/incidents/engine/observations/restart-sql.ts',
    'server/jobs/engine/rollback/touched-sql.ts',
    'server/nodes/presence-sql.ts',
    'server/nodes/reconnect-times.ts',
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
