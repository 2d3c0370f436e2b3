// Runs a command from its arguments, and turns what it throws into a sentence and an exit code.
import { CommanderError } from 'commander'
import { Failure, StartupError } from '../server/core/failure.ts'
import { program } from './program.ts'
import type { Terminal } from './terminal.ts'

/** Returns the exit code. The arguments do not include the names of Node and of the program. */
export async function runCommand(terminal: Terminal, args: readonly string[]): Promise<number> {
  try {
    await program(terminal).parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    const isExpected = error instanceof StartupError || error instanceof Failure
    terminal.writeError(
      isExpected ? endSentence(error.message) : `Unexpected error: ${(error as Error).stack ?? error}`,
    )
    return error instanceof StartupError ? error.exitCode : 1
  }
}

/** The violations of a request are not sentences. */
export const endSentence = (text: string): string => (text.endsWith('.') ? text : `${text}.`)
