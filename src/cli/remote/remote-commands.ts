// The commands that talk to a server over HTTP. They import nothing of the server, and the package roomkeeper-cli has only these.
import type { Command } from 'commander'
import { addContextCommands } from '../context/context-options.ts'
import { addCsvCommands } from '../csv/csv-commands.ts'
import { addMcpCommand } from '../mcp/mcp-options.ts'
import { addPlanCommands } from '../plan/plan-commands.ts'
import type { Terminal } from '../terminal/terminal.ts'

export function addRemoteCommands(root: Command, terminal: Terminal): void {
  addContextCommands(root, terminal)
  addCsvCommands(root, terminal)
  addPlanCommands(root, terminal)
  addMcpCommand(root, terminal)
  // Its commands are derived from the table of operations, which takes long to load: "api" takes every word, and parses them itself.
  root
    .command('api')
    .description('call any operation of the interface: api NOUN VERB; "api --help" lists them')
    .usage('<noun> <verb> [options]')
    .argument('[words...]')
    .helpOption(false)
    .allowUnknownOption()
    .action(async (words) => (await import('../api/api-command.ts')).apiCommand(terminal, root.name(), words))
}
