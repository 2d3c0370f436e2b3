// `roomkeeper identity`: shows how the people of an organisation sign in, and turns their identity provider off.

import { readServerRecord } from '../server/config/server-record.ts'
import { PublicAddress } from '../server/context/public-address.ts'
import { commandLineActor } from '../server/journal/orgs/rules.ts'
import { identityDisable, identityGet } from '../server/people/identity/rules.ts'
import { cliActor, type DatabaseCommandOptions, withExistingDatabase } from './database-command.ts'
import { printResult, type Terminal } from './terminal/terminal.ts'

interface IdentityOptions extends DatabaseCommandOptions {
  readonly org: string
}

export const identityShowCommand = (terminal: Terminal, options: IdentityOptions) =>
  withExistingDatabase(options, async (services) => {
    const record = readServerRecord(options.dataDir)
    const isAssumed = record?.isPublicUrlAssumed ?? record?.publicUrl === record?.url
    const publicUrl = isAssumed ? undefined : record?.publicUrl
    const address = new PublicAddress(publicUrl)
    if (record) address.assume(record.publicUrl)
    const ctx = await commandLineActor(services, cliActor(terminal), options.org)
    const { body } = await identityGet(ctx, { publicUrl, passkeyUrl: address.ofPasskeys })
    printResult(terminal, options.json, body, [
      `provider  ${body.issuer ?? 'none'}${body.issuer ? (body.enabled ? ' (on)' : ' (off)') : ''}`,
      `client    ${body.clientId ?? 'none'}${body.hasClientSecret ? ', with a secret' : ''}`,
      `scopes    ${body.scopes.join(' ')}`,
      `tested    ${body.testedAt ?? 'never with these settings'}`,
      `groups    ${body.groupRoles.map(({ group, role }) => `${group}: ${role}`).join(', ') || 'give no roles'}`,
      `domains   ${body.trustedDomains.join(', ') || 'none is trusted'}`,
      `passkeys  ${body.passkeys ? 'on' : 'off'}`,
      ...(body.problem ? [`problem   ${body.problem}`] : []),
      ...(body.callbackUrl ? [`callback  ${body.callbackUrl}`] : []),
    ])
  })

export const identityDisableCommand = (terminal: Terminal, options: IdentityOptions) =>
  withExistingDatabase(options, async (services) => {
    await identityDisable(await commandLineActor(services, cliActor(terminal), options.org))
    printResult(terminal, options.json, {}, [
      'The identity provider is off. Passkeys and links still work; "login-link" makes a link.',
    ])
  })
