// Defines the command `roomkeeper mcp`.
import type { Command } from 'commander'
import { addConnectionOptions } from '../http/connection.ts'
import type { Terminal } from '../terminal/terminal.ts'

export function addMcpCommand(root: Command, terminal: Terminal): void {
  addConnectionOptions(
    root
      .command('mcp')
      .description(
        'serve tools to a language model over standard input and output (Model Context Protocol); the program that starts it needs the key of a context',
      ),
  ).action(async (options) => (await import('./mcp-command.ts')).mcpCommand(terminal, options))
}
