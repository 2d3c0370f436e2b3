// The organisation and the address of the console for commands that make links. [contract 9.link]

import { readServerRecord } from '../server/config/server-record.ts'
import type { Services } from '../server/context/services.ts'
import { StartupError } from '../server/core/failure.ts'
import { atLocalhost } from '../server/http/listen.ts'
import { listOrgs } from '../server/journal/orgs/store.ts'
import { defaultPort } from './command-options.ts'
import type { DatabaseCommandOptions } from './database-command.ts'

/** The options that name the organisation and the address of the console. */
export interface ConsoleAddressOptions extends DatabaseCommandOptions {
  readonly org?: string
  readonly publicUrl?: string
  readonly port?: number
}

/** The address of the console for a link, and a line that says so if it is only assumed. */
export function consoleAddress(options: ConsoleAddressOptions): { base: string; assumption: string[] } {
  const known = knownAddress(options)
  if (known !== undefined) return { base: known, assumption: [] }
  const base = `http://localhost:${defaultPort}`
  return {
    base,
    assumption: [`The link assumes that the server is at ${base}. If it is not, use --port or --public-url.`],
  }
}

/** The address that an option names, or that the server recorded when it started. */
function knownAddress({ publicUrl, port, dataDir }: ConsoleAddressOptions): string | undefined {
  if (publicUrl !== undefined) return publicUrl
  const record = readServerRecord(dataDir)
  if (port === undefined) return record?.publicUrl
  return record?.url.endsWith(`:${port}`) ? atLocalhost(record.url) : `http://localhost:${port}`
}

export async function onlyOrg(services: Services): Promise<string> {
  const [org, ...others] = await listOrgs(services.db.system)
  if (!org) throw new StartupError('There is no organisation yet. Create one with "org create".')
  if (others.length === 0) return org.id
  throw new StartupError(`There are ${others.length + 1} organisations. Choose one with --org; "org list" shows them.`)
}
