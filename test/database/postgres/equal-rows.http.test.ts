// Every read that a service made on SQLite gives the same rows, in the same order, on a copy in PostgreSQL.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operationIds } from '../../../src/contract/operations.ts'
import { RegionAccess } from '../../../src/server/core/region-access.ts'
import { withoutTransaction } from '../../../src/server/db/copy/transaction-side.ts'
import type { Database } from '../../../src/server/db/db.ts'
import { OrgReader } from '../../../src/server/db/handles.ts'
import { openExisting } from '../../../src/server/db/open.ts'
import { checkIntegrity, checkReferences } from '../../../src/server/maintenance/check-database.ts'
import { copyDatabase } from '../../../src/server/maintenance/copy-database.ts'
import { perform } from '../../support/contract/calls.ts'
import { newFixture } from '../../support/fixture.ts'
import { type Harness, startHarness, type TestOrg } from '../../support/harness.ts'
import { buildPlaces } from '../../support/places/generated-places.ts'
import { readEverything, threeRegions } from '../../support/places/read-everything.ts'
import { observedStatements, type StatementCall } from '../../support/statements/observed-statements.ts'

/** Texts that sort and compare differently by locale, case and encoding, with digits and beyond the basic plane. */
const awkward = [
  'Zürich',
  'zürich',
  'ZURICH',
  'Ärger',
  'apple',
  'Apple',
  'éclair',
  'ß',
  'SS',
  '🏢 Tower',
  '10',
  '9',
  '_',
  'a b',
  'a-b',
  'Ａ',
]

/** More calls of one statement with other values show nothing new. */
const maxCallsPerStatement = 25

const calls = new Map<StatementCall['run'], Map<string, StatementCall>>()
function record(call: StatementCall): void {
  if (call.on.engine !== 'sqlite') return
  const known = calls.get(call.run) ?? new Map<string, StatementCall>()
  calls.set(call.run, known)
  if (known.size < maxCallsPerStatement) known.set(JSON.stringify([call.org, call.values]), call)
}

let harness: Harness
let sqlite: Database
let postgres: Database
let folder: string
beforeAll(async () => {
  // The service runs on SQLite in the harness's folder. The harness's database in PostgreSQL stays empty for the copy.
  const onSqlite: object = { databaseUrl: undefined }
  harness = await startHarness(onSqlite, { taskPauseShare: 500 })
  const { dataDir, databaseUrl } = harness.place
  observedStatements.onCall = record
  await fill(harness)
  await harness.stop()
  observedStatements.onCall = undefined
  const secretKeyFile = join(dataDir, 'secret.key')
  folder = mkdtempSync(join(tmpdir(), 'roomkeeper-test-'))
  copyFileSync(secretKeyFile, join(folder, 'secret.key'))
  const from = { dataDir }
  const to = { dataDir: folder, ...(databaseUrl !== undefined && { databaseUrl }) }
  await copyDatabase({ from, to, secretKeyFile, isRehearsal: true, onCopied() {} })
  sqlite = await openExisting(from)
  postgres = await openExisting(to)
}, 120_000)
afterAll(async () => {
  await sqlite?.close()
  await postgres?.close()
  await harness.close()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

async function fill(on: Harness): Promise<void> {
  const places = await buildPlaces(on, threeRegions)
  await nameAwkwardly(places, Number(places.regions[0]?.id), Number(places.locations[0]?.id))
  await readEverything(on, places)
  const f = await newFixture(on)
  await nameAwkwardly(f, f.region, f.location)
  // Operations that delete or end something would leave fewer rows to compare.
  for (const id of operationIds.filter((name) => !/Delete|Cancel|Resolve|RollBack|Unlink|MoveRoom|Test$/.test(name))) {
    const { status, text } = await perform(on, f, id)
    expect(status, `${id} ${text}`).toBeLessThan(500)
  }
}

async function nameAwkwardly(org: TestOrg, regionId: number, locationId: number): Promise<void> {
  for (const [i, name] of awkward.entries()) {
    const made = [
      ['/regions', { name }],
      ['/locations', { name, regionId }],
      ['/rooms', { name, locationId, ...(i % 2 && { tags: [`tag-${i}`] }) }],
      ['/profiles', { name, config: { ntpServer: `${i}.example.org` } }],
      ['/keys', { name, scopes: ['read'], regionIds: [regionId] }],
      ['/users', { email: `person-${i}@example.org`, name, role: 'viewer', regionIds: [regionId] }],
    ] as const
    for (const [path, body] of made) {
      const { status, text } = await org.call('POST', path, { body })
      expect(status, `${path} ${text}`).toBe(200)
    }
  }
}

interface Answer {
  readonly query: CompiledQuery
  readonly rows: readonly Record<string, unknown>[]
}

/** Runs a call of a statement on a database as it is now. */
async function replay(db: Database, { run, values, org }: StatementCall): Promise<Answer> {
  let asked: CompiledQuery | undefined
  const reader = new OrgReader({ org: org ?? 0, access: RegionAccess.everything }, db.engine, {
    kysely: db.system.kysely,
    run(query, parameters) {
      asked = query
      return isRead(query) ? db.system.run(query, parameters) : []
    },
  })
  const rows = (await run(reader, values, org)) as Record<string, unknown>[]
  return { query: asked as CompiledQuery, rows }
}

const isRead = ({ query, sql }: CompiledQuery) =>
  query.kind === 'SelectQueryNode' && !/ for (update|share|key share|no key update)/.test(sql)

/** PostgreSQL's driver returns sums and counts as texts, and comparisons as booleans. */
function plain(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (typeof value !== 'string') return value
  // A list that PostgreSQL makes has spaces.
  if (/^[[{].*[\]}]$/.test(value)) return JSON.stringify(JSON.parse(value))
  return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
}
const plainRow = (row: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)]))

/** The order of a statement without ORDER BY is free, and so is the choice of rows that a LIMIT makes there. */
function comparable({ query, rows }: Answer): unknown {
  const isOrdered = /\border by\b/.test(outermost(query.sql))
  const list = rows.map((row) => JSON.stringify(plainRow(row)))
  if (isOrdered) return list
  return /\blimit\b/.test(outermost(query.sql)) ? list.length : list.sort()
}

/** The text without what is in parentheses. */
function outermost(text: string): string {
  let [previous, rest] = ['', text]
  while (previous !== rest) [previous, rest] = [rest, rest.replaceAll(/\([^()]*\)/g, '')]
  return rest
}

/** Two databases can differ in order, pages, groups, comparisons of text and JSON. */
const canDiffer = /\border by\b|\bgroup by\b|\blimit\b|\bdistinct\b|json|->>| (<|>|like) |\b(lower|upper|min|max)\(/

test('all reads that were recorded return equal rows in equal order', async () => {
  const differences: string[] = []
  const compared = new Set<string>()
  for (const call of [...calls.values()].flatMap((variants) => [...variants.values()])) {
    const [here, there] = [await replay(sqlite, call), await replay(postgres, call)]
    if (!isRead(here.query) || !isRead(there.query)) continue
    const name = observedStatements.nameOf(here.query) ?? here.query.sql
    if (here.rows.length > 0 && canDiffer.test(there.query.sql)) compared.add(name)
    const [left, right] = [comparable(here), comparable(there)]
    if (isDeepStrictEqual(left, right)) continue
    differences.push(`${name} ${JSON.stringify(call.values)}\nSQLite ${left}\nPostgreSQL ${right}`)
  }
  expect(differences).toEqual([])
  // About half of the statements that can differ. Suites named *.db.test.ts expect the same rows of the others on both databases.
  expect(compared.size).toBeGreaterThan(130)
})

test('the copy and a copy back are whole', async () => {
  const back = mkdtempSync(join(tmpdir(), 'roomkeeper-test-'))
  try {
    const secretKeyFile = join(folder, 'secret.key')
    copyFileSync(secretKeyFile, join(back, 'secret.key'))
    const { databaseUrl } = harness.place
    const from = { dataDir: folder, ...(databaseUrl !== undefined && { databaseUrl }) }
    await copyDatabase({ from, to: { dataDir: back }, secretKeyFile, isRehearsal: true, onCopied() {} })
    for (const db of [sqlite, postgres]) {
      const side = withoutTransaction(db)
      expect(await checkIntegrity(side)).toMatchObject({ isGood: true })
      expect(await checkReferences(side)).toMatchObject({ isGood: true })
    }
  } finally {
    rmSync(back, { recursive: true, force: true })
  }
})
