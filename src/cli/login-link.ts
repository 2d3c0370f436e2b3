// `roomkeeper login-link`: creates a one-time link that signs in to the console. [contract 9.link]

import type { Actor } from '../server/context/request-context.ts'
import type { Services } from '../server/context/services.ts'
import { StartupError } from '../server/core/failure.ts'
import { parseInt32 } from '../server/core/int32.ts'
import { commandLineActor } from '../server/journal/orgs/rules.ts'
import { loginLinkCreate } from '../server/people/sessions/rules.ts'
import { firstOwnerLinkCreate, signInUrl, userLoginLinkCreate } from '../server/people/sessions/user-links.ts'
import { type ConsoleAddressOptions, consoleAddress, onlyOrg } from './console-address.ts'
import { cliActor, withExistingDatabase } from './database-command.ts'
import { printResult, type Terminal } from './terminal/terminal.ts'

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

/** Creates a link to the console at this address. The secret is in the fragment, which browsers do not send. */
export async function makeLoginLink(services: Services, actor: Actor, org: string, base: string, keyId?: number) {
  const { secret, key, expiresAt } = await loginLinkCreate(await commandLineActor(services, actor, org), keyId)
  return { url: signInUrl(base, secret), org, keyId: String(key.id), keyName: key.name, expiresAt }
}

/** Creates a link that signs a person in, whatever else they have lost. [contract 11.local] */
async function makeUserLoginLink(services: Services, actor: Actor, org: string, base: string, email: string) {
  const ctx = await commandLineActor(services, actor, org)
  const { secret, user, expiresAt } = await userLoginLinkCreate(ctx, email.trim())
  return { url: signInUrl(base, secret), org, userId: String(user.id), email: user.email, role: user.role, expiresAt }
}

/** Creates a link that makes the first owner, who enters their e-mail address. [contract 11.local] */
export async function makeFirstOwnerLink(services: Services, actor: Actor, org: string, base: string) {
  const { secret, expiresAt } = await firstOwnerLinkCreate(await commandLineActor(services, actor, org))
  return { url: signInUrl(base, secret), org, role: 'owner', expiresAt }
}

function keyNumber(text: string): number {
  const id = parseInt32(text)
  if (id !== undefined) return id
  // The text may be a secret key by mistake, so it is not printed.
  throw new StartupError('--key must be the id of a key such as 2, as "keys list" shows it.')
}
