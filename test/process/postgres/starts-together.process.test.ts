// Two processes that start on the same empty PostgreSQL database at the same moment.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newPlace } from '../../support/harness.ts'
import { isFullForm } from '../../support/long-form.ts'
import type { StartPlace, StartReport } from '../../support/nodes/start-process.ts'

const script = fileURLToPath(new URL('../../support/nodes/start-process.ts', import.meta.url))
let processes: ChildProcess[]
beforeAll(async () => {
  processes = [1, 2].map(() => fork(script, { execArgv: [] }))
  await Promise.all(processes.map((child) => once(child, 'message')))
})
afterAll(() => {
  for (const child of processes) child.kill()
})

/** Both processes begin as soon as they get the message. */
async function startTogether(places: readonly StartPlace[]): Promise<StartReport[]> {
  return Promise.all(
    processes.map(async (child, i) => {
      const report = once(child, 'message')
      child.send(places[i] as StartPlace)
      return (await report)[0] as StartReport
    }),
  )
}

async function rowsOf(databaseUrl: string, table: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query(`select count(*)::integer as count from ${table}`)
  await client.end()
  return rows[0].count
}

async function newDatabase(...folders: string[]) {
  const { place, remove } = await newPlace()
  const databaseUrl = place.databaseUrl as string
  const places = folders.map((folder) => ({ dataDir: join(place.dataDir, folder), databaseUrl }))
  for (const { dataDir } of places) mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  return { databaseUrl, places, remove }
}

test.each(isFullForm ? [1, 2, 3, 4] : [1])(
  'with one folder both start, and one shows the first key (round %d)',
  async () => {
    const { databaseUrl, places, remove } = await newDatabase('data', 'data')
    const reports = await startTogether(places)
    expect(reports.map(({ error }) => error)).toEqual([undefined, undefined])
    expect(new Set(reports.map(({ identity }) => identity)).size).toBe(1)
    expect(reports.filter(({ first }) => first)).toHaveLength(1)
    for (const table of ['orgs', 'api_keys']) expect(await rowsOf(databaseUrl, table), table).toBe(1)
    expect(readdirSync(places[0]?.dataDir as string).filter((name) => name.startsWith('secret'))).toEqual([
      'secret.key',
    ])
    await remove()
  },
)

test.each(isFullForm ? [1, 2, 3] : [1])(
  'with a folder each, one of them has the key, and the other says what to do (round %d)',
  async () => {
    const { databaseUrl, places, remove } = await newDatabase('a', 'b')
    const reports = await startTogether(places)
    const refused = reports.filter(({ error }) => error)
    expect(refused).toHaveLength(1)
    expect(refused[0]?.error).toMatch(
      /Copy the key file of that server to .*secret\.key|Name where it is with --data-dir/,
    )
    const files = places.map(({ dataDir }) => readdirSync(dataDir).filter((name) => name.startsWith('secret')))
    expect(files.toSorted(), 'no key that does not fit').toEqual([[], ['secret.key']])
    expect(await rowsOf(databaseUrl, 'orgs')).toBe(1)
    await remove()
  },
)
