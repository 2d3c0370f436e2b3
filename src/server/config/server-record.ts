// The server's record in the data folder about its database and its address, for commands that run beside it.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { StartupError } from '../core/failure.ts'
import type { Log } from '../core/log.ts'
import { shellWord } from '../core/text.ts'
import type { DatabaseOptions } from './server-options.ts'

const fileName = 'server.json'

export interface ServerRecord {
  /** The PostgreSQL database, without its password; absent if the database is SQLite. */
  readonly databaseUrl?: string
  /** Absent if the key is in the data folder. */
  readonly secretKeyFile?: string
  /** The address under which this machine reaches the server. */
  readonly url: string
  /** The address under which people and devices reach the server. */
  readonly publicUrl: string
  /** True if no option named the public address. Earlier versions recorded the address of this machine as the public one then. */
  readonly isPublicUrlAssumed?: boolean
}

type Addresses = Pick<ServerRecord, 'url' | 'publicUrl' | 'isPublicUrlAssumed'>

/** Only commands need the record, so a disk that is full does not stop the server. */
export function recordServer(options: DatabaseOptions, addresses: Addresses, log: Log): void {
  try {
    writeServerRecord(options, addresses)
  } catch (error) {
    log.warn({ reason: (error as Error).message }, 'server.json was not written')
  }
}

/** Replaces the record of an earlier start. A crash leaves the earlier one or the new one, complete. */
export function writeServerRecord(options: DatabaseOptions, addresses: Addresses): void {
  const { dataDir, databaseUrl, secretKeyFile } = options
  const record: ServerRecord = {
    ...(databaseUrl !== undefined && { databaseUrl: withoutPassword(databaseUrl) }),
    ...(secretKeyFile !== undefined && { secretKeyFile: resolve(secretKeyFile) }),
    ...addresses,
  }
  const file = join(dataDir, fileName)
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600, flush: true })
  renameSync(draft, file)
}

/** Returns undefined if no server has run with this data folder. */
export function readServerRecord(dataDir: string): ServerRecord | undefined {
  const file = join(dataDir, fileName)
  try {
    const record = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof record?.url === 'string' && typeof record.publicUrl === 'string') return record
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
  }
  throw new StartupError(`Cannot read ${file}. Delete it: the server writes it again at its next start.`)
}

/**
 * Refuses SQLite in a folder whose last server used PostgreSQL: an option was forgotten, and the server would go on with old data or begin
 * empty. A record that cannot be read is replaced by the start.
 */
export function refuseForgottenPostgres(options: DatabaseOptions): void {
  const sentences = forgottenPostgres(options)
  if (sentences !== undefined) throw new StartupError(sentences)
}

export function forgottenPostgres({ dataDir, databaseUrl }: DatabaseOptions): string | undefined {
  const recorded = databaseUrl ? undefined : readableRecord(dataDir)?.databaseUrl
  if (recorded === undefined) return undefined
  return `The server with the data folder ${dataDir} used PostgreSQL at its last start (${recorded}), and these options name no PostgreSQL database. Use --database-url. To use SQLite in this folder, run "roomkeeper copy --unmark --from ${shellWord(dataDir)}".`
}

/** Removes PostgreSQL from the record, so that a server may use SQLite in the folder. Returns the address that the record had. */
export function forgetRecordedPostgres(dataDir: string): string | undefined {
  const record = readableRecord(dataDir)
  if (record?.databaseUrl === undefined) return undefined
  const { databaseUrl, secretKeyFile, ...addresses } = record
  writeServerRecord({ dataDir, ...(secretKeyFile !== undefined && { secretKeyFile }) }, addresses)
  return databaseUrl
}

/** Returns undefined if there is no record that can be read. */
export function readableRecord(dataDir: string): ServerRecord | undefined {
  try {
    return readServerRecord(dataDir)
  } catch (error) {
    if (error instanceof StartupError) return undefined
    throw error
  }
}

/** Fills in what no option says: the database and the secret key of the server that ran last with this data folder. */
export function withRecordedDatabase(options: DatabaseOptions): DatabaseOptions {
  if (options.databaseUrl !== undefined) return options
  const { databaseUrl, secretKeyFile } = readServerRecord(options.dataDir) ?? {}
  return {
    ...(secretKeyFile !== undefined && { secretKeyFile }),
    ...options,
    ...(databaseUrl !== undefined && { databaseUrl }),
  }
}

/** Removes the password after the user's name, and parameters such as password and sslpassword. */
export function withoutPassword(databaseUrl: string): string {
  return databaseUrl
    .replace(/^(\w+:\/\/[^:/?#@]*):[^/?#]*@/, '$1@')
    .replaceAll(/([?&])\w*password\w*=[^&#]*&?/gi, '$1')
    .replace(/[?&]$/, '')
}
