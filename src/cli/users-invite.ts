// `roomkeeper users invite`: creates a user if there is none, and a one-time link with which they sign in. [contract 11.local]

import { type Role, roles } from '../contract/people/permissions.ts'
import { emailKey } from '../contract/text.ts'
import type { RequestContext } from '../server/context/request-context.ts'
import type { Services } from '../server/context/services.ts'
import { StartupError } from '../server/core/failure.ts'
import { nameProblem } from '../server/core/text.ts'
import { commandLineActor } from '../server/journal/orgs/rules.ts'
import { inviteUser, signInUrl } from '../server/people/sessions/user-links.ts'
import { usersCreate, usersList } from '../server/people/users/rules.ts'
import { hasActiveOwner } from '../server/people/users/store.ts'
import { type ConsoleAddressOptions, consoleAddress, onlyOrg } from './console-address.ts'
import { cliActor, withExistingDatabase } from './database-command.ts'
import { makeFirstOwnerLink } from './login-link.ts'
import { parseRegionId } from './region-option.ts'
import { printResult, type Terminal } from './terminal/terminal.ts'

interface InviteOptions extends ConsoleAddressOptions {
  readonly role?: Role
  readonly name?: string
  readonly allRegions?: boolean
  readonly region?: string[]
}

export const usersInviteCommand = (terminal: Terminal, email: string | undefined, options: InviteOptions) =>
  withExistingDatabase(options, async (services) => {
    const org = options.org ?? (await onlyOrg(services))
    const ctx = await commandLineActor(services, cliActor(terminal), org)
    if (email === undefined) return inviteFirstOwner(terminal, services, ctx, options)
    const user = (await existingUser(ctx, email, options)) ?? (await newUser(ctx, email, options))
    const { base, assumption } = consoleAddress(options)
    const { secret, expiresAt } = await inviteUser(ctx, user.id)
    const link = {
      url: signInUrl(base, secret),
      org,
      userId: user.id,
      email: user.email,
      role: user.role,
      expiresAt,
    }
    printResult(terminal, options.json, link, [
      link.url,
      `The link signs in to organisation ${org} as ${user.email} (${user.role}). It works once, within 7 days. No mail was sent: pass it on.`,
      ...assumption,
    ])
  })

/** The first owner enters their own address, so that the command of a start works as it is printed. */
async function inviteFirstOwner(terminal: Terminal, services: Services, ctx: RequestContext, options: InviteOptions) {
  const isOwnerAlone = options.role === 'owner' && (options.name ?? options.allRegions ?? options.region) === undefined
  if (!isOwnerAlone || (await hasActiveOwner(ctx.db))) {
    throw new StartupError(
      'Name the e-mail address of the person. It can be left out only with --role owner, without other options about the user, in an organisation that has no active owner.',
    )
  }
  const { base, assumption } = consoleAddress(options)
  const link = await makeFirstOwnerLink(services, ctx.actor, ctx.org.id, base)
  printResult(terminal, options.json, link, [
    link.url,
    `The link asks for an e-mail address, and makes that person the first owner of organisation ${ctx.org.id}. It works once, within 24 hours.`,
    ...assumption,
  ])
}

async function existingUser(ctx: RequestContext, email: string, options: InviteOptions) {
  const { users } = await usersList(ctx)
  const user = users.find((one) => emailKey(one.email) === emailKey(email.trim()))
  const given = options.role ?? options.name ?? options.allRegions ?? options.region
  if (!user || given === undefined) return user
  throw new StartupError(
    `${user.email} is a user already, with the role ${user.role}. Leave out --role, --name, --all-regions and --region, and change the user in the console.`,
  )
}

async function newUser(ctx: RequestContext, given: string, { role, name, allRegions, region }: InviteOptions) {
  const email = given.trim()
  if (!/^[^@\s]+@[^@\s]+$/.test(email) || email.length > 254) {
    throw new StartupError('The e-mail address must be of the form name@example.org, with at most 254 characters.')
  }
  if (role === undefined) {
    throw new StartupError(`${email} is a new user. Give them a role with --role: ${roles.join(', ')}.`)
  }
  const problem = name === undefined ? undefined : nameProblem(name)
  if (problem) throw new StartupError(`--name ${problem}.`)
  const { body } = await usersCreate(ctx, {
    email,
    role,
    ...(name !== undefined && { name: name.trim() }),
    ...(allRegions && { allRegions }),
    ...(region && { regionIds: region.map(parseRegionId) }),
  })
  return body
}
