// Runs a command of `roomkeeper`: those that open the database, and those that talk to a server.
import { Failure, StartupError } from '../server/core/failure.ts'
import { program } from './program.ts'
import { type ExitCodeOf, runProgram } from './terminal/run-program.ts'
import type { Terminal } from './terminal/terminal.ts'

const exitCodeOf: ExitCodeOf = (error) => {
  if (error instanceof StartupError) return error.exitCode
  return error instanceof Failure ? 1 : undefined
}

/** Returns the exit code. The arguments do not include the names of Node and of the program. */
export const runCommand = (terminal: Terminal, args: readonly string[]): Promise<number> =>
  runProgram(program(terminal), terminal, args, exitCodeOf)
