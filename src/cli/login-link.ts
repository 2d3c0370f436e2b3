// `roomkeeper login-link`: creates a one-time link that signs in to the console. [contract 9.link]

import { readServerRecord } from '../server/config/server-record.ts'
import type { Actor } from '../server/context/request-context.ts'
import type { Services } from '../server/context/services.ts'
import { StartupError } from '../server/core/failure.ts'
import { parseInt32 } from '../server/http/input/input.ts'
import { commandLineActor } from '../server/resources/orgs/rules.ts'
import { listOrgs } from '../server/resources/orgs/store.ts'
import { loginLinkCreate } from '../server/resources/sessions/rules.ts'
import { firstOwnerLinkCreate, signInUrl, userLoginLinkCreate } from '../server/resources/sessions/user-links.ts'
import { defaultPort } from './command-options.ts'
import { cliActor, type DatabaseCommandOptions, withExistingDatabase } from './database-command.ts'
import { printResult, type Terminal } from './terminal.ts'

/** The options that name the organisation and the address of the console. */
export interface ConsoleAddressOptions extends DatabaseCommandOptions {
  readonly org?: string
  readonly publicUrl?: string
  readonly port?: number
}

interface LoginLinkOptions extends ConsoleAddressOptions {
  readonly key?: string
  readonly user?: string
}

export const loginLinkCommand = (terminal: Terminal, options: LoginLinkOptions) =>
  withExistingDatabase(options, async (services) => {
    if (options.user !== undefined && options.key !== undefined) {
      throw new StartupError('Choose --user or --key, not both: a link signs in as a person or with a key.')
    }
    const org = options.org ?? (await onlyOrg(services))
    const key = options.key === undefined ? undefined : keyNumber(options.key)
    const { base, assumption } = consoleAddress(options)
    if (options.user !== undefined) {
      const link = await makeUserLoginLink(services, cliActor(terminal), org, base, options.user)
      return printResult(terminal, options.json, link, [
        link.url,
        `The link signs in to organisation ${org} as ${link.email} (${link.role}). It works once, within 15 minutes.`,
        ...assumption,
      ])
    }
    const link = await makeLoginLink(services, cliActor(terminal), org, base, key)
    printResult(terminal, options.json, link, [
      link.url,
      `The link signs in to organisation ${org} with key ${link.keyId} (${link.keyName}). It works once, within 15 minutes.`,
      ...assumption,
    ])
  })

/** The address of the console for a link, and a line that says so if it is only assumed. */
export function consoleAddress(options: ConsoleAddressOptions): { base: string; assumption: string[] } {
  const known = knownAddress(options)
  if (known !== undefined) return { base: known, assumption: [] }
  const base = `http://127.0.0.1:${defaultPort}`
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
  return record?.url.endsWith(`:${port}`) ? record.url : `http://127.0.0.1:${port}`
}

/** Creates a link to the console at this address. The secret is in the fragment, which browsers do not send. */
export async function makeLoginLink(services: Services, actor: Actor, org: string, base: string, keyId?: number) {
  const { secret, key, expiresAt } = await loginLinkCreate(await commandLineActor(services, actor, org), keyId)
  return { url: `${base}/sign-in#${secret}`, org, keyId: String(key.id), keyName: key.name, expiresAt }
}

/** Creates a link that signs a person in, whatever else they have lost. [contract 11.local] */
async function makeUserLoginLink(services: Services, actor: Actor, org: string, base: string, email: string) {
  const ctx = await commandLineActor(services, actor, org)
  const { secret, user, expiresAt } = await userLoginLinkCreate(ctx, email.trim())
  return { url: signInUrl(base, secret), org, userId: String(user.id), email: user.email, role: user.role, expiresAt }
}

/** Creates the link of the first start, which makes the first owner. [contract 11.local] */
export async function makeFirstOwnerLink(services: Services, actor: Actor, org: string, base: string): Promise<string> {
  const { secret } = await firstOwnerLinkCreate(await commandLineActor(services, actor, org))
  return signInUrl(base, secret)
}

export async function onlyOrg(services: Services): Promise<string> {
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
