// The command "roomkeeper" itself, and how a command below it gets its options.
import { Command, Option } from 'commander'
import { type OptionSpec, withUnit } from '../server/config/database-options.ts'
import { sharedOptions } from '../server/config/stored-options.ts'
import { StartupError } from '../server/core/failure.ts'
import type { Terminal } from './terminal.ts'

/** Has no commands yet. */
export const rootCommand = (terminal: Terminal): Command =>
  new Command('roomkeeper')
    .description('Self-hosted device management for meeting rooms.')
    .version(terminal.version, '--version', 'print the version and the commit')
    .configureOutput({
      writeOut: (text) => terminal.write(text.trimEnd()),
      writeErr: (text) => terminal.writeError(text.trimEnd()),
      outputError: (text, write) => write(oneSentence(text)),
    })
    .exitOverride()
    .hook('preAction', (_, command) => {
      if (terminal.secretKey !== undefined) command.setOptionValue('secretKey', terminal.secretKey)
    })

export function addCommand(
  parent: Command,
  name: string,
  description: string,
  options: readonly OptionSpec[],
  { isDefault = false } = {},
): Command {
  const command = parent.command(name, { isDefault }).description(description)
  for (const option of options) command.addOption(toOption(option))
  return command
}

export function toOption({ flag, env, default: byDefault, help, parse }: OptionSpec): Option {
  const option = new Option(flag, help).env(env)
  if (byDefault !== undefined) option.default(byDefault)
  if (parse) option.argParser(namingVariable(flag, env, parse))
  return option
}

/**
 * Names the values of options with their units. A shared option that was not given has the value that the database stores, and not the
 * default. Other values stay as they are: the secret key, for example, comes from a variable and has no option.
 */
export function givenOptions<T>(command: Command): T {
  const shared = new Set<string>(sharedOptions.map(({ key }) => key))
  const given: Record<string, unknown> = { ...command.opts() }
  for (const option of command.options) {
    const name = option.attributeName()
    const field = withUnit(name, option.flags)
    const value = given[name]
    delete given[name]
    const isStored = shared.has(field) && command.getOptionValueSource(name) === 'default'
    if (value !== undefined && !isStored) given[field] = value
  }
  return given as T
}

/** An invalid value may come from the environment variable, so the error names the option and the variable. */
const namingVariable =
  (flag: string, env: string, parse: (text: string, before?: unknown) => unknown) =>
  (text: string, before?: unknown) => {
    try {
      return parse(text, before)
    } catch (error) {
      const name = flag.split(' ')[0] ?? flag
      throw new StartupError((error as Error).message.replace(name, `${name} (or ${env})`))
    }
  }

/** Turns "error: unknown option '--prot'\n(Did you mean --port?)" into one sentence. */
function oneSentence(text: string): string {
  const message = text
    .replace(/^error: /, '')
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/\.$/, '')
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}. Use --help to see all options.`
}
