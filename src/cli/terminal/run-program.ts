// Runs a command from its arguments, and turns what it throws into a sentence and an exit code.
import { type Command, CommanderError } from 'commander'
import { CommandError } from './command-error.ts'
import type { Terminal } from './terminal.ts'

/** Returns the exit code of an error whose message is for the user; undefined for an error of the program. */
export type ExitCodeOf = (error: unknown) => number | undefined

/** Returns the exit code. The arguments do not include the names of Node and of the program. */
export async function runProgram(
  program: Command,
  terminal: Terminal,
  args: readonly string[],
  exitCodeOf: ExitCodeOf,
): Promise<number> {
  try {
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    const exitCode = error instanceof CommandError ? error.exitCode : exitCodeOf(error)
    const { message, stack } = error as Error
    terminal.writeError(exitCode === undefined ? `Unexpected error: ${stack ?? error}` : endSentence(message))
    return exitCode ?? 1
  }
}

/** The violations of a request are not sentences. */
export const endSentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`)
