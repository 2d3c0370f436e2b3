// `roomkeeper login-link`: creates a one-time link that signs in to the console. [contract 9.link]

import { readServerRecord } from '../server/config/server-record.ts'
import type { Actor } from '../server/context/request-context.ts'
import type { Services } from '../server/context/services.ts'
import { StartupError } from '../server/core/failure.ts'
import { parseInt32 } from '../server/http/input/input.ts'
import { commandLineActor } from '../server/resources/orgs/rules.ts'
import { listOrgs } from '../server/resources/orgs/store.ts'
import { loginLinkCreate } from '../server/resources/sessions/rules.ts'
import { defaultPort } from './command-options.ts'
import { cliActor, type DatabaseCommandOptions, withExistingDatabase } from './database-command.ts'
import { printResult, type Terminal } from './terminal.ts'

interface LoginLinkOptions extends DatabaseCommandOptions {
  readonly org?: string
  readonly key?: string
  readonly publicUrl?: string
  readonly port?: number
}

export const loginLinkCommand = (terminal: Terminal, options: LoginLinkOptions) =>
  withExistingDatabase(options, async (services) => {
    const org = options.org ?? (await onlyOrg(services))
    const key = options.key === undefined ? undefined : keyNumber(options.key)
    const known = knownAddress(options)
    const base = known ?? `http://127.0.0.1:${defaultPort}`
    const link = await makeLoginLink(services, cliActor(terminal), org, base, key)
    printResult(terminal, options.json, link, [
      link.url,
      `The link signs in to organisation ${org} with key ${link.keyId} (${link.keyName}). It works once, within 15 minutes.`,
      ...(known === undefined
        ? [`The link assumes that the server is at ${base}. If it is not, use --port or --public-url.`]
        : []),
    ])
  })

/** The address that an option names, or that the server recorded when it started. */
function knownAddress({ publicUrl, port, dataDir }: LoginLinkOptions): string | undefined {
  if (publicUrl !== undefined) return publicUrl
  const record = readServerRecord(dataDir)
  if (port === undefined) return record?.publicUrl
  return record?.url.endsWith(`:${port}`) ? record.url : `http://127.0.0.1:${port}`
}

/** Creates a link to the console at this address. The secret is in the fragment, which browsers do not send. */
export async function makeLoginLink(services: Services, actor: Actor, org: string, base: string, keyId?: number) {
  const { secret, key, expiresAt } = await loginLinkCreate(await commandLineActor(services, actor, org), keyId)
  return { url: `${base}/sign-in#${secret}`, org, keyId: String(key.id), keyName: key.name, expiresAt }
}

async function onlyOrg(services: Services): Promise<string> {
  const [org, ...others] = await listOrgs(services.db.system)
  if (!org) throw new StartupError('There is no organisation yet. Create one with "org create".')
  if (others.length === 0) return org.id
  throw new StartupError(`There are ${others.length + 1} organisations. Choose one with --org; "org list" shows them.`)
}

function keyNumber(text: string): number {
  const id = parseInt32(text)
  if (id !== undefined) return id
  // The text may be a secret key by mistake, so it is not printed.
  throw new StartupError('--key must be the id of a key such as 2, as "keys list" shows it.')
}
