// Runs a command of the program in the process of the test, which saves the half second that a process takes to load it.
import { userInfo } from 'node:os'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../src/cli/run-command.ts'
import type { Terminal } from '../../src/cli/terminal.ts'
import { programVersion, versionText } from '../../src/server/core/program-files.ts'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** The words that start the program of this checkout. */
export const ownProgram = [process.execPath, fileURLToPath(new URL('../../bin/roomkeeper.js', import.meta.url))]

/** Runs a command in this process, with the code that the program runs. Its environment has no options. */
export async function runHere(args: readonly string[], secretKey?: string): Promise<Ended> {
  const output = { stdout: '', stderr: '' }
  const terminal: Terminal = {
    version: versionText(programVersion()),
    program: ownProgram,
    isInteractive: false,
    write: (text) => {
      output.stdout += `${text}\n`
    },
    writeError: (text) => {
      output.stderr += `${text}\n`
    },
    // Nothing sends a signal to a command that runs here.
    untilStopped: () => new Promise(() => {}),
    onHangup: () => {},
    user: () => userInfo().username,
    secretKey,
    exitWithFailure: () => {
      throw new Error('the command wanted to end its process')
    },
  }
  return { code: await runCommand(terminal, args), signal: null, ...output }
}
