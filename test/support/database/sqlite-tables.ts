// Before the tests on SQLite: one file gets the tables of this program, and services in tests begin with a copy of it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../../src/server/db/open.ts'
import { sqliteFileOf } from '../../../src/server/db/sqlite/sqlite-file.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The file of a database that has tables and no rows. */
    sqliteTables: string
  }
}

export default async function setup(project: TestProject): Promise<() => void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'roomkeeper-tables-'))
  const { db } = await openDatabase({ dataDir }, { isLocked: false, mustExist: false, onError() {} })
  // This moves everything from the WAL into the file.
  await db.close()
  project.provide('sqliteTables', sqliteFileOf(dataDir))
  return () => rmSync(dataDir, { recursive: true })
}
