// Runs a command of the package roomkeeper-cli. Its bin file names the version.
import { processTerminal } from '../terminal/process-terminal.ts'
import { runRemoteCommand } from './remote-program.ts'

export async function main(version: string): Promise<void> {
  process.exitCode = await runRemoteCommand(processTerminal(version), process.argv.slice(2))
}
