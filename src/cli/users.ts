// `roomkeeper users list`: lists the people of an organisation. [contract 11.user]

import { commandLineActor } from '../server/journal/orgs/rules.ts'
import { usersList } from '../server/people/users/rules.ts'
import { onlyOrg } from './console-address.ts'
import { cliActor, type DatabaseCommandOptions, withExistingDatabase } from './database-command.ts'
import { printResult, type Terminal } from './terminal/terminal.ts'

interface UsersListOptions extends DatabaseCommandOptions {
  readonly org?: string
}

export const usersListCommand = (terminal: Terminal, options: UsersListOptions) =>
  withExistingDatabase(options, async (services) => {
    const org = options.org ?? (await onlyOrg(services))
    const answer = await usersList(await commandLineActor(services, cliActor(terminal), org))
    const lines = answer.users.map((user) => {
      const ways = user.signsInWith.join(' and ') || 'link only'
      const name = user.name === undefined ? '' : `  ${user.name}`
      return `${user.id}  ${user.email}  ${user.role}  ${regionsOf(user)}  ${user.state}  signs in with ${ways}  last seen ${user.lastSeenAt ?? 'never'}${name}`
    })
    printResult(
      terminal,
      options.json,
      answer,
      lines.length > 0
        ? lines
        : ['This organisation has no users yet. Invite one with "users invite EMAIL --role ROLE".'],
    )
  })

interface Visibility {
  readonly role: string
  readonly allRegions: boolean
  readonly regionIds: readonly number[]
}

const regionsOf = ({ role, allRegions, regionIds }: Visibility): string =>
  role === 'owner' || allRegions ? 'all regions' : `regions ${regionIds.join(' ') || 'none'}`
