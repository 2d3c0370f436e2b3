// Prints the address of a server that has started, and what is missing before people and programs can use it. [contract 11.local]
import type { Service } from '../server/app.ts'
import type { ServeOptions } from '../server/config/server-options.ts'
import { firstStartActor } from '../server/first-start.ts'
import { makeFirstOwnerLink } from './login-link.ts'
import { neededVariables, shellCommand } from './shell-command.ts'
import type { Terminal } from './terminal/terminal.ts'

export async function greet(terminal: Terminal, options: ServeOptions, service: Service): Promise<void> {
  const { first } = service
  if (first?.key === undefined) {
    terminal.write(
      [...addressLines(terminal, options, service), ...missingLines(terminal, options, service)].join('\n'),
    )
    return
  }
  await greetFirst(terminal, service, first.org, first.key)
  // The link that was printed is for the first organisation; the command line may have created others.
  const owner = service.missing.owner.filter((org) => org !== first.org)
  const missing = missingLines(terminal, options, { ...service, missing: { ...service.missing, owner } })
  if (missing.length > 0) terminal.write(missing.join('\n'))
}

/** The key is printed first, so that an error with the link does not lose it. */
async function greetFirst(terminal: Terminal, { publicUrl, services }: Service, org: string, key: string) {
  terminal.write(`
Roomkeeper is ready at ${publicUrl}

  Organisation  ${org}
  Key           ${key}

The key is not shown again: store it now. Try it:

  curl -H 'Authorization: Bearer ${key}' ${publicUrl}/v1/orgs/${org}/regions

API reference: ${publicUrl}/docs
`)
  const link = await makeFirstOwnerLink(services, firstStartActor, org, publicUrl)
  terminal.write(`Open the console: ${link.url}  (works once, for 24 hours, and makes you the first owner)\n`)
}

function addressLines(terminal: Terminal, options: ServeOptions, service: Service): string[] {
  const { first, publicUrl, missing, formerPasskeyHost } = service
  const addresses = [`API reference: ${publicUrl}/docs`, `Open the console: ${publicUrl}/`]
  if (first) return ['', `Roomkeeper is ready at ${publicUrl}`, '', `  Organisation  ${first.org}`, '', ...addresses]
  const org = missing.orgs.length === 1 ? missing.orgs : ['ORG']
  const loginLink = linkCommand(terminal, options, publicUrl, 'login-link', '--user', 'EMAIL', '--org', ...org)
  const moved = formerPasskeyHost === undefined ? [] : [movedSentence(formerPasskeyHost, publicUrl)]
  return [`Roomkeeper is ready at ${publicUrl}`, ...addresses, ...moved, `To get back in: ${loginLink}`]
}

const movedSentence = (host: string, publicUrl: string): string =>
  `Passkeys that were added at ${host} no longer work, because the address is now ${publicUrl}: people sign in with a link from "login-link --user", and add a passkey again.`

/** Without a terminal no secret is printed: others may read a journal later. */
function missingLines(terminal: Terminal, options: ServeOptions, { publicUrl, missing }: Service): string[] {
  const { key, owner } = missing
  if (key.length + owner.length === 0) return []
  const keyFlags = ['--name', 'First key', '--scope', 'read', '--scope', 'write', '--manage']
  const note = neededVariables(options)
  return [
    ...key.flatMap((org) => [
      '',
      `Organisation ${org} has no API key. Create one:`,
      '',
      `  ${shellCommand(terminal, options, 'keys', 'create', '--org', org, ...keyFlags)}`,
    ]),
    ...owner.flatMap((org) => [
      '',
      `Organisation ${org} has no active owner. Create a sign-in link for one:`,
      '',
      `  ${linkCommand(terminal, options, publicUrl, 'users', 'invite', '--role', 'owner', '--org', org)}`,
    ]),
    '',
    ...(note === undefined ? [] : [note, '']),
  ]
}

/** A config file may name another address than an option of this server did. */
const linkCommand = (terminal: Terminal, options: ServeOptions, publicUrl: string, ...args: string[]): string =>
  shellCommand(terminal, options, ...args, ...(options.config === undefined ? [] : ['--public-url', publicUrl]))
