// Before the tests on PostgreSQL: one database gets the tables of this program, and services in tests begin with a copy of it.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../../src/server/db/open.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The database that has tables and no rows. No test connects to it: PostgreSQL copies only databases without connections. */
    postgresTables: string
  }
}

let creating: Promise<string> | undefined
let projectCount = 0

/** The projects of a run share the database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = project.getProvidedContext().postgresUrl
  projectCount++
  creating ??= createTables(server)
  const name = await creating
  project.provide('postgresTables', name)
  return async () => {
    if (--projectCount === 0) await dropDatabase(server, name)
  }
}

/** Returns the name of a new database with tables and no rows, of which others can be copies. */
export async function createTables(server: string): Promise<string> {
  const { name, databaseUrl } = await createDatabase(server)
  const dataDir = mkdtempSync(join(tmpdir(), 'roomkeeper-tables-'))
  const settings = { isLocked: false, mustExist: false, onError() {} }
  const { db } = await openDatabase({ dataDir, databaseUrl }, settings)
  await db.close()
  rmSync(dataDir, { recursive: true })
  return name
}

/** An empty one, or a copy of another. */
export async function createDatabase(
  server: string,
  template = 'template1',
): Promise<{ name: string; databaseUrl: string }> {
  const name = `roomkeeper_${randomBytes(8).toString('hex')}`
  // Copying the files takes half of the CPU of writing the copy to the log.
  await administer(server, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { name, databaseUrl: url.href }
}

export const dropDatabase = (server: string, name: string): Promise<void> =>
  administer(server, `DROP DATABASE ${name} WITH (FORCE)`)

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement)
  await client.end()
}
