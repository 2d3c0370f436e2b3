// The commands of `roomkeeper context`: which servers a user talks to.
import type { Command } from 'commander'
import { connectionVariables } from '../http/connection.ts'
import type { Terminal } from '../terminal/terminal.ts'

export function addContextCommands(root: Command, terminal: Terminal): void {
  const context = root.command('context').description('manage the servers that commands over HTTP talk to')
  const load = () => import('./context-commands.ts')
  context
    .command('add')
    .description(
      'add or replace a context, after its key was tried. The key is asked for, or read from ROOMKEEPER_KEY or standard input; it is never an argument, which other users of the machine could see.',
    )
    .argument('<name>', 'name of the context, such as office')
    .requiredOption('--url <url>', 'address of the server, such as https://rooms.example.org')
    .requiredOption('--org <id>', 'organisation')
    .option('--no-use', 'do not make it the current context')
    .action(async (name, options) => (await load()).contextAdd(terminal, name, options))
  context
    .command('use')
    .description('choose the context of commands without --context')
    .argument('<name>', 'name of the context')
    .action(async (name) => (await load()).contextUse(terminal, name))
  context
    .command('list')
    .description('list the contexts; * is the current one')
    .option('--json', 'print JSON')
    .action(async (options) => (await load()).contextList(terminal, options))
  context
    .command('show')
    .description(
      `show a context: the given one, else the one that commands use, ${connectionVariables.baseUrl} included`,
    )
    .argument('[name]', 'name of the context')
    .option('--json', 'print JSON')
    .action(async (name, options) => (await load()).contextShow(terminal, name, options))
  context
    .command('remove')
    .description('remove a context with its key from this machine; the key still works elsewhere until it is revoked')
    .argument('<name>', 'name of the context')
    .action(async (name) => (await load()).contextRemove(terminal, name))
}
