// Runs a command of the program in the process of the test, which saves the half second that a process takes to load it, or the 0.8 s
// that a server takes.
import { userInfo } from 'node:os'
import { fileURLToPath } from 'node:url'
import { runRemoteCommand } from '../../src/cli/remote/remote-program.ts'
import { runCommand } from '../../src/cli/run-command.ts'
import type { Terminal } from '../../src/cli/terminal/terminal.ts'
import { programVersion, versionText } from '../../src/server/core/program-files.ts'
import { testTerminal } from './test-terminal.ts'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** The words that start the program of this checkout. */
export const ownProgram = [process.execPath, fileURLToPath(new URL('../../bin/roomkeeper.js', import.meta.url))]

/** The variables, the input and the terminal of a command. */
export interface Surroundings {
  readonly variables?: Readonly<Record<string, string>>
  /** Standard input. */
  readonly input?: string
  readonly terminal?: Partial<Terminal>
}

type Run = typeof runCommand

/** A command that runs in this process, with the code that the program runs. Its environment has no options. */
export class RunningHere {
  stdout = ''
  stderr = ''
  isRunning = true
  readonly #ended: Promise<Ended>
  readonly #signalled = Promise.withResolvers<string>()

  constructor(
    args: readonly string[],
    secretKey?: string,
    { variables = {}, input = '', terminal: own = {} }: Surroundings = {},
    run: Run = runCommand,
  ) {
    const terminal = testTerminal({
      version: versionText(programVersion()),
      program: ownProgram,
      write: (text) => {
        this.stdout += `${text}\n`
      },
      writeRaw: async (chunk) => {
        this.stdout += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1')
      },
      writeError: (text) => {
        this.stderr += `${text}\n`
      },
      untilStopped: () => this.#signalled.promise,
      user: () => userInfo().username,
      variable: (name) => variables[name],
      readInput: async function* () {
        yield Buffer.from(input)
      },
      secretKey,
      ...own,
    })
    this.#ended = run(terminal, args).then((code) => {
      this.isRunning = false
      return { code, signal: null, stdout: this.stdout, stderr: this.stderr }
    })
  }

  /** Resolves when the command has ended. */
  exit(): Promise<Ended> {
    return this.#ended
  }

  /** Ends the command as the signal ends its process: in order. */
  stop(signal: 'SIGINT' | 'SIGTERM' = 'SIGTERM'): Promise<Ended> {
    this.#signalled.resolve(signal)
    return this.#ended
  }
}

/** Runs a command to its end in this process. */
export const runHere = (args: readonly string[], secretKey?: string): Promise<Ended> =>
  new RunningHere(args, secretKey).exit()

/** Starts a command of the package roomkeeper-cli in this process. */
export const startRemoteHere = (args: readonly string[], surroundings: Surroundings = {}): RunningHere =>
  new RunningHere(args, undefined, surroundings, runRemoteCommand)

/** Runs a command of the package roomkeeper-cli to its end in this process. */
export const runRemoteHere = (args: readonly string[], surroundings: Surroundings = {}): Promise<Ended> =>
  startRemoteHere(args, surroundings).exit()
