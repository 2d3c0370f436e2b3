// The program of the package roomkeeper-cli.
import type { Command } from 'commander'
import { rootCommand } from '../terminal/root-command.ts'
import { runProgram } from '../terminal/run-program.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { addRemoteCommands } from './remote-commands.ts'

const name = 'roomkeeper-cli'

export function remoteProgram(terminal: Terminal): Command {
  const root = rootCommand(terminal, name)
    .description('Talks to a Roomkeeper server over HTTP, from any machine.')
    .addHelpText('after', `\nStart with "${name} context add NAME --url URL --org ORG", which asks for an API key.`)
  addRemoteCommands(root, terminal)
  return root
}

/** Returns the exit code. */
export const runRemoteCommand = (terminal: Terminal, args: readonly string[]): Promise<number> =>
  runProgram(remoteProgram(terminal), terminal, args)
