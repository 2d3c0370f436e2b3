// How a command gets options that are declared with a variable of the environment, as those of the server are.
import { type Command, Option } from 'commander'
import { type OptionSpec, withUnit } from '../server/config/database-options.ts'
import { sharedOptions } from '../server/config/stored-options.ts'
import { StartupError } from '../server/core/failure.ts'

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
