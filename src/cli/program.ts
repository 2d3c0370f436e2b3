// Defines every command of the command line with its options and help.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { scopes as callerScopes, roles } from '../contract/people/permissions.ts'
import { databaseOptions } from '../server/config/database-options.ts'
import { serveOptions } from '../server/config/options.ts'
import { copyOptions, demoOptions, loginLinkOptions } from './command-options.ts'
import { addCommand, givenOptions, toOption } from './declared-options.ts'
import { deviceCheckOptions } from './device-check/options.ts'
import { addRemoteCommands } from './remote/remote-commands.ts'
import { simulateOptions } from './simulate-options.ts'
import { addSiteCommands } from './site-commands.ts'
import { rootCommand } from './terminal/root-command.ts'
import type { Terminal } from './terminal/terminal.ts'

export function program(terminal: Terminal): Command {
  const root = rootCommand(terminal)
    .description('Self-hosted device management for meeting rooms.')
    .addHelpText(
      'after',
      '\nStart with "roomkeeper serve": in a terminal, the first start prints an organisation, an API key and a link to the console.',
    )
    .hook('preAction', (_, command) => {
      if (terminal.secretKey !== undefined) command.setOptionValue('secretKey', terminal.secretKey)
    })

  const addDatabaseCommand = (parent: Command, name: string, description: string, kind?: { isDefault: boolean }) =>
    addCommand(parent, name, description, databaseOptions, kind).option('--json', 'print JSON')

  root.commandsGroup('Commands that open the database, on the machine of the server:')
  // The code of a command is loaded on demand, so that a command does not load that of all others.
  addCommand(root, 'serve', 'start the server', serveOptions).action(async (_, command) =>
    (await import('./serve.ts')).serve(terminal, givenOptions(command)),
  )

  addCommand(root, 'demo', 'start a server with a simulated fleet and a week of history', demoOptions).action(
    async (_, command) => (await import('./demo/demo.ts')).demo(terminal, givenOptions(command)),
  )
  addCommand(root, 'doctor', 'check the installation, with the options of "serve"', serveOptions)
    .option('--json', 'print JSON')
    .action(async (_, command) => (await import('./doctor/doctor.ts')).doctorCommand(terminal, givenOptions(command)))

  const org = root.command('org').description('manage organisations')
  addDatabaseCommand(org, 'create', 'create an organisation')
    .argument('<name>', 'name of the organisation')
    .option('--timezone <zone>', 'time zone of the organisation, such as Europe/Oslo', 'UTC')
    .action(async (name, options) => (await import('./org.ts')).orgCreateCommand(terminal, name, options))
  addDatabaseCommand(org, 'list', 'list organisations').action(async (options) =>
    (await import('./org.ts')).orgListCommand(terminal, options),
  )

  addDatabaseCommand(org, 'timezone', 'set the time zone of an organisation, for its daily sensor history')
    .argument('<org-id>', 'id of the organisation, as "org list" shows it')
    .argument('<zone>', 'time zone, such as Europe/Oslo')
    .action(async (id, zone, options) => (await import('./org.ts')).orgTimezoneCommand(terminal, id, zone, options))

  const settings = root
    .command('settings')
    .description('list and change the settings that all servers of a database share')
  addDatabaseCommand(settings, 'list', 'list the shared settings', { isDefault: true }).action(async (options) =>
    (await import('./settings.ts')).settingsListCommand(terminal, options),
  )
  addDatabaseCommand(settings, 'set', 'change a shared setting; running servers use it within a minute')
    .argument('<name>', 'name of the setting, as "settings" lists it')
    .argument('<value>', 'the new value, as the option of "serve" takes it')
    .action(async (name, value, options) =>
      (await import('./settings.ts')).settingsSetCommand(terminal, name, value, options),
    )

  const keys = root.command('keys').description('manage API keys; a running server applies changes within a second')
  addDatabaseCommand(keys, 'create', 'create an API key; it is printed only once')
    .requiredOption('--org <id>', 'organisation of the key')
    .requiredOption('--name <name>', 'name of the key, shown in the audit log')
    .addOption(
      new Option('--scope <scope>', 'read, operate or write (repeatable); write contains operate')
        .argParser(collectScope)
        .makeOptionMandatory(),
    )
    .option('--manage', 'allow the key to manage keys and users')
    .option('--region <id>', 'limit the key to a region (repeatable)', collect)
    .option('--expires <when>', 'expiry date such as 2027-01-31, or duration such as 90d or 12h')
    .option('--rate-limit <number>', 'requests per second for this key; 0 means no limit')
    .action(async (options) => (await import('./keys.ts')).keysCreateCommand(terminal, options))
  addDatabaseCommand(keys, 'list', 'list the API keys of an organisation')
    .requiredOption('--org <id>', 'organisation of the keys')
    .action(async (options) => (await import('./keys.ts')).keysListCommand(terminal, options))
  addDatabaseCommand(keys, 'revoke', 'revoke an API key')
    .argument('<key-id>', 'id of the key, as "keys list" shows it')
    .requiredOption('--org <id>', 'organisation of the key')
    .action(async (id, options) => (await import('./keys.ts')).keysRevokeCommand(terminal, id, options))

  const loginLink = addDatabaseCommand(root, 'login-link', 'create a one-time sign-in link for the console')
  for (const option of loginLinkOptions) loginLink.addOption(toOption(option))
  loginLink
    .option('--org <id>', 'organisation; optional if there is only one')
    .option('--key <key-id>', 'id of the API key to sign in with (default: the first key with all permissions)')
    .option('--user <email>', 'sign in as this person instead; works even if they have lost every other way')
    .action(async (options) => (await import('./login-link.ts')).loginLinkCommand(terminal, options))

  const users = root.command('users').description('list and invite people who sign in to the console')
  addDatabaseCommand(users, 'list', 'list the people of an organisation, with role, regions and last use')
    .option('--org <id>', 'organisation; optional if there is only one')
    .action(async (options) => (await import('./users.ts')).usersListCommand(terminal, options))
  const invite = addDatabaseCommand(
    users,
    'invite',
    'create a one-time sign-in link for a person, who then adds a passkey',
  )
    .argument('[email]', 'e-mail address of the person; without it, the link asks for the address of the first owner')
    .option('--org <id>', 'organisation; optional if there is only one')
    .addOption(new Option('--role <role>', 'role (required for a new user)').choices(roles))
    .option('--name <name>', 'name of a new user')
    .option('--all-regions', 'let a new user see all regions')
    .option('--region <id>', 'region that a new user sees (repeatable)', collect)
  for (const option of loginLinkOptions) invite.addOption(toOption(option))
  invite.action(async (email, options) =>
    (await import('./users-invite.ts')).usersInviteCommand(terminal, email, options),
  )

  const identity = root.command('identity').description('show and turn off the identity provider of an organisation')
  addDatabaseCommand(identity, 'show', 'show how the people of an organisation sign in')
    .requiredOption('--org <id>', 'organisation')
    .action(async (options) => (await import('./identity.ts')).identityShowCommand(terminal, options))
  addDatabaseCommand(
    identity,
    'disable',
    'turn the identity provider off, so that people sign in with passkeys and links',
  )
    .requiredOption('--org <id>', 'organisation')
    .action(async (options) => (await import('./identity.ts')).identityDisableCommand(terminal, options))

  const audit = root.command('audit').description('verify the audit log')
  addDatabaseCommand(audit, 'verify', 'check that no entry of the audit log was edited, removed or reordered')
    .option('--org <id>', 'only this organisation')
    .option(
      '--expect <head>',
      'head that "audit head" printed earlier (repeatable); detects removed entries at the end',
      collect,
    )
    .action(async (options) => (await import('./audit.ts')).auditVerify(terminal, options))
  addDatabaseCommand(
    audit,
    'head',
    'print the heads of the audit logs; store them elsewhere for "audit verify --expect"',
  )
    .option('--org <id>', 'only this organisation')
    .action(async (options) => (await import('./audit.ts')).auditHead(terminal, options))

  addDatabaseCommand(root, 'migrate', 'migrate the database to this version; "serve" does this too').action(
    async (options) => (await import('./migrate.ts')).migrateCommand(terminal, options),
  )
  addDatabaseCommand(root, 'nodes', 'list the servers on the database').action(async (options) =>
    (await import('./nodes.ts')).nodesCommand(terminal, options),
  )
  addDatabaseCommand(root, 'backup', 'write a backup to a file, also while the server runs')
    .argument('<file>', 'the new file')
    .option('--with-secret', 'include the secret key; protect the file like the key itself')
    .option('--with-bundles', 'include the log bundles of bug reports')
    .action(async (file, options) => (await import('./backup.ts')).backupCommand(terminal, file, options))
  addDatabaseCommand(root, 'restore', 'restore a backup into an empty data folder or database')
    .argument('<file>', 'a file that "backup" made')
    .action(async (file, options) => (await import('./backup.ts')).restoreCommand(terminal, file, options))
  // The server runs this in a child process for each scheduled backup.
  root
    .command('backup-process', { hidden: true })
    .action(async () => (await import('./backup.ts')).backupProcess(terminal))
  addDatabaseCommand(root, 'check', 'check the database, its references, the audit log and the secret key').action(
    async (options) => (await import('./check.ts')).checkCommand(terminal, options),
  )
  addCommand(root, 'copy', 'copy everything between SQLite and PostgreSQL, into an empty database', copyOptions)
    .option('--rehearsal', 'try the copy; the source stays in use')
    .option('--unmark', 'instead of a copy, let servers start again on the database of --from, which was copied')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./copy.ts')).copyCommand(terminal, options))

  root.commandsGroup('Commands that talk to a server over HTTP, from any machine:')
  addRemoteCommands(root, terminal)

  root.commandsGroup('Commands for devices:')
  simulateOptions(root.command('simulate').description('run a fleet of simulated devices against a server')).action(
    async (options) => (await import('./simulate.ts')).simulateCommand(terminal, options),
  )
  deviceCheckOptions(
    root.command('device-check').description('check a device against the protocol, with a server of its own'),
  ).action(async (options) => (await import('./device-check/device-check.ts')).deviceCheckCommand(terminal, options))

  addSiteCommands(root, terminal)

  root.commandsGroup('Documents and help:').helpCommand('help [command]', 'print the help of a command')
  const document = (name: 'openapi' | 'messages', description: string) =>
    root
      .command(name)
      .description(description)
      .option('--output <file>', 'write the document to a file')
      .action(async (options) => (await import('./documents.ts')).printDocument(terminal, name, options))
  document('openapi', 'print the OpenAPI document')
  document('messages', 'print the JSON Schemas of the device protocol')
  return root
}

const collect = (item: string, before: string[] = []) => [...before, item]

const collectScope = (text: string, before: string[] = []) => {
  const scopes = text.split(',')
  if (scopes.every((scope) => (callerScopes as readonly string[]).includes(scope))) return [...before, ...scopes]
  throw new InvalidArgumentError('The scope must be read, operate or write; repeat --scope for each.')
}
