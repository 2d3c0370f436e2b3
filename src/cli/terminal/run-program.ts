// Runs a command from its arguments, and turns what it throws into a sentence and an exit code.
import { type Command, CommanderError } from 'commander'
import { CommandError } from './command-error.ts'
import { type Terminal, withoutControls } from './terminal.ts'

/** Returns the exit code of an error whose message is for the user; undefined for an error of the program. */
export type ExitCodeOf = (error: unknown) => number | undefined

/** Returns the exit code. The arguments do not include the names of Node and of the program. */
export async function runProgram(
  program: Command,
  terminal: Terminal,
  args: readonly string[],
  exitCodeOf: ExitCodeOf = () => undefined,
): Promise<number> {
  try {
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    const exitCode = exitCodeOfCommand(error) ?? exitCodeOf(error)
    const { message, stack } = error as Error
    const text = exitCode === undefined ? `Unexpected error: ${stack ?? error}` : sentenceOf(message)
    terminal.writeError(withoutControls(text))
    return exitCode ?? 1
  }
}

/**
 * The message of an `ApiError` is the server's sentence. The class is known by its name here: its file loads the table of operations, which
 * most commands do not need.
 */
function exitCodeOfCommand(error: unknown): number | undefined {
  if (error instanceof CommandError) return error.exitCode
  return error instanceof Error && error.name === 'ApiError' ? 1 : undefined
}

/** The server says no more than this for an organisation that the key does not belong to. [contract 2.4] */
const organisationNotFound = 'Requested resource not found'

const sentenceOf = (message: string): string =>
  message === organisationNotFound
    ? `${message}: the key does not belong to this organisation. Check --org, ROOMKEEPER_ORG or the context.`
    : endSentence(message)

/** The violations of a request are not sentences. */
export const endSentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`)
