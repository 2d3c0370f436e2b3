// The command line: every command, its options and its help.
import { Command, InvalidArgumentError, Option } from 'commander'
import { databaseOptions, type OptionSpec, serveOptions } from '../server/config/options.ts'
import { StartupError } from '../server/core/failure.ts'
import { auditHead, auditVerify } from './audit.ts'
import { demoOptions } from './demo-options.ts'
import { keysCreateCommand, keysListCommand, keysRevokeCommand } from './keys.ts'
import { loginLinkCommand, loginLinkOptions } from './login-link.ts'
import { migrateCommand } from './migrate.ts'
import { messagesText, openapiText, printDocument } from './openapi.ts'
import { orgCreateCommand, orgListCommand, orgTimezoneCommand } from './org.ts'
import { simulateCommand, simulateOptions } from './simulate.ts'
import type { Terminal } from './terminal.ts'

export function program(terminal: Terminal): Command {
  const root = new Command('roomkeeper')
    .description('Self-hosted device management for meeting rooms.')
    .version(terminal.version, '--version', 'print the version')
    .configureOutput({
      writeOut: (text) => terminal.say(text.trimEnd()),
      writeErr: (text) => terminal.complain(text.trimEnd()),
      outputError: (text, write) => write(oneSentence(text)),
    })
    .exitOverride()
    .addHelpText(
      'after',
      '\nStart with "roomkeeper serve": the first start prints an organisation, a key and a line to try.',
    )

  const under = (parent: Command, name: string, description: string, options: readonly OptionSpec[]) => {
    const command = parent.command(name).description(description)
    for (const option of options) command.addOption(toOption(option))
    return command
  }
  const administrative = (parent: Command, name: string, description: string) =>
    under(parent, name, description, databaseOptions).option('--json', 'print JSON, for machines')

  // Loaded when it is wanted: the other commands do not wait for a whole server.
  under(root, 'serve', 'start the server', serveOptions).action(async (options) => {
    const { serve } = await import('./serve.ts')
    return serve(terminal, options)
  })

  under(root, 'demo', 'start a server with a simulated fleet, for a first look', demoOptions).action(
    async (options) => {
      const { demo } = await import('./demo.ts')
      return demo(terminal, options)
    },
  )
  simulateOptions(root.command('simulate').description('run a fleet of simulated devices against a server')).action(
    (options) => simulateCommand(terminal, options),
  )

  const org = root.command('org').description('organisations')
  administrative(org, 'create', 'create an organisation')
    .argument('<name>', 'its name')
    .option('--timezone <zone>', 'where its days begin, such as Europe/Oslo', 'UTC')
    .action((name, options) => orgCreateCommand(terminal, name, options))
  administrative(org, 'list', 'list the organisations').action((options) => orgListCommand(terminal, options))

  administrative(org, 'timezone', 'set where the days of an organisation begin, for its daily sensor history')
    .argument('<org-id>', 'its id, as "org list" shows it')
    .argument('<zone>', 'such as Europe/Oslo')
    .action((id, zone, options) => orgTimezoneCommand(terminal, id, zone, options))

  const keys = root.command('keys').description('API keys; a running server honours a change within a second')
  administrative(keys, 'create', 'create a key; it is printed once')
    .requiredOption('--org <id>', 'the organisation it belongs to')
    .requiredOption('--name <name>', 'what it is for')
    .addOption(
      new Option('--scope <scope>', 'what it may do: read or write (repeatable)')
        .argParser(collectScope)
        .makeOptionMandatory(),
    )
    .option('--manage', 'it may manage keys and users')
    .option('--expires <when>', 'a date such as 2027-01-31, or a duration such as 90d or 12h')
    .option('--rate-limit <number>', 'requests a second for this key alone; 0: no limit')
    .action((options) => keysCreateCommand(terminal, options))
  administrative(keys, 'list', 'list the keys of an organisation')
    .requiredOption('--org <id>', 'the organisation')
    .action((options) => keysListCommand(terminal, options))
  administrative(keys, 'revoke', 'revoke a key')
    .argument('<key-id>', 'its id, as "keys list" shows it')
    .requiredOption('--org <id>', 'the organisation')
    .action((id, options) => keysRevokeCommand(terminal, id, options))

  const loginLink = administrative(root, 'login-link', 'make a link that signs somebody in to the console, once')
  for (const option of loginLinkOptions) loginLink.addOption(toOption(option))
  loginLink
    .option('--org <id>', 'the organisation; may be left out if there is only one')
    .option('--key <key-id>', 'the key that the session stands for (default: the first that may do everything)')
    .action((options) => loginLinkCommand(terminal, options))

  const audit = root.command('audit').description('the audit log')
  administrative(audit, 'verify', 'check that no entry was edited, removed or reordered')
    .option('--org <id>', 'only this organisation')
    .option('--expect <head>', 'a head printed earlier by "audit head" (repeatable): finds a cut tail', collect)
    .action((options) => auditVerify(terminal, options))
  administrative(audit, 'head', 'print the heads of the logs; keep them elsewhere for "audit verify --expect"')
    .option('--org <id>', 'only this organisation')
    .action((options) => auditHead(terminal, options))

  administrative(root, 'migrate', 'bring the database to this version; "serve" does it by itself').action((options) =>
    migrateCommand(terminal, options),
  )
  const document = (name: string, description: string, text: () => string) =>
    root
      .command(name)
      .description(description)
      .option('--output <file>', 'write it to a file')
      .action((options) => printDocument(terminal, text(), options))
  document('openapi', 'print the OpenAPI document', openapiText)
  document('messages', 'print the JSON Schemas of the device protocol', messagesText)
  return root
}

function toOption({ flag, env, default: byDefault, help, parse }: OptionSpec): Option {
  const option = new Option(flag, help).env(env)
  if (byDefault !== undefined) option.default(byDefault)
  if (parse) option.argParser(naming(flag, env, parse))
  return option
}

/** A wrong value may have come from the variable: name both. */
const naming =
  (flag: string, env: string, parse: (text: string, before?: unknown) => unknown) =>
  (text: string, before?: unknown) => {
    try {
      return parse(text, before)
    } catch (error) {
      const name = flag.split(' ')[0] ?? flag
      throw new StartupError((error as Error).message.replace(name, `${name} (or ${env})`))
    }
  }

/** "error: unknown option '--prot'\n(Did you mean --port?)" as one line that ends like a sentence. */
function oneSentence(text: string): string {
  const said = text
    .replace(/^error: /, '')
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/\.$/, '')
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}. Add --help to see what is possible.`
}

const collect = (item: string, before: string[] = []) => [...before, item]

const collectScope = (text: string, before: string[] = []) => {
  const scopes = text.split(',')
  if (scopes.every((scope) => scope === 'read' || scope === 'write')) return [...before, ...scopes]
  throw new InvalidArgumentError('It must be read or write; give --scope once for each.')
}
