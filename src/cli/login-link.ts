// `roomkeeper login-link`: makes a link that signs somebody in to the console, once. [contract 9.link]

import { type OptionSpec, serveOptions } from '../server/config/options.ts'
import type { Actor } from '../server/context/request-context.ts'
import type { Services } from '../server/context/services.ts'
import { StartupError } from '../server/core/failure.ts'
import { parseInt32 } from '../server/http/input.ts'
import { commandLineActor } from '../server/resources/orgs/rules.ts'
import { listOrgs } from '../server/resources/orgs/store.ts'
import { loginLinkCreate } from '../server/resources/sessions/rules.ts'
import { cliActor, type PlaceAndFormat, withExisting } from './ground.ts'
import { print, type Terminal } from './terminal.ts'

interface LoginLinkOptions extends PlaceAndFormat {
  readonly org?: string
  readonly key?: string
  readonly publicUrl?: string
  readonly port?: number
}

const usualPort = Number(serveOptions.find(({ flag }) => flag.startsWith('--port '))?.default)

/** Where the server is: what was given to it is given here too. Without a default, to know what was given. */
export const loginLinkOptions: readonly OptionSpec[] = serveOptions
  .filter(({ flag }) => /^--(public-url|port) /.test(flag))
  .map(({ default: _, ...option }) =>
    option.flag.startsWith('--port ')
      ? { ...option, help: `port of the server on this machine (default: ${usualPort})` }
      : option,
  )

export const loginLinkCommand = (terminal: Terminal, options: LoginLinkOptions) =>
  withExisting(options, async (services) => {
    const org = options.org ?? (await onlyOrg(services))
    const key = options.key === undefined ? undefined : keyNumber(options.key)
    const isAssumed = options.publicUrl === undefined && options.port === undefined
    const base = options.publicUrl ?? `http://127.0.0.1:${options.port ?? usualPort}`
    const link = await makeLoginLink(services, cliActor(terminal), org, base, key)
    print(terminal, options.json, link, [
      link.url,
      `It signs in to organisation ${org} with key ${link.keyId} (${link.keyName}). It works once, for 15 minutes.`,
      ...(isAssumed ? [`It assumes ${base}. If your server is elsewhere, give --port or --public-url.`] : []),
    ])
  })

/** A link to the console at this address. Its secret is in the fragment, which browsers keep to themselves. */
export async function makeLoginLink(services: Services, actor: Actor, org: string, base: string, keyId?: number) {
  const { secret, key, expiresAt } = await loginLinkCreate(await commandLineActor(services, actor, org), keyId)
  return { url: `${base}/sign-in#${secret}`, org, keyId: String(key.id), keyName: key.name, expiresAt }
}

async function onlyOrg(services: Services): Promise<string> {
  const [org, ...others] = await listOrgs(services.db.system)
  if (!org) throw new StartupError('There is no organisation yet. Create one with "org create".')
  if (others.length === 0) return org.id
  throw new StartupError(`There are ${others.length + 1} organisations. Name one with --org; "org list" shows them.`)
}

function keyNumber(text: string): number {
  const id = parseInt32(text)
  if (id !== undefined) return id
  // Somebody may have given the key itself: it is not said back.
  throw new StartupError('--key must be the id of a key such as 2, as "keys list" shows it.')
}
