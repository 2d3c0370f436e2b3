// The commands that run at the site of the rooms, and not beside the server. The package roomkeeper-gateway has only these.
import type { Command } from 'commander'
import { computerOptions } from './command-options.ts'
import { addCommand, givenOptions } from './declared-options.ts'
import { gatewayOptions } from './gateway-options.ts'
import { rootCommand } from './terminal/root-command.ts'
import type { Terminal } from './terminal/terminal.ts'

export function addSiteCommands(root: Command, terminal: Terminal): void {
  gatewayOptions(
    root.command('gateway').description('manage devices in this network for a server: codecs, projectors, switches'),
  ).action(async (options) => (await import('./gateway.ts')).gatewayCommand(terminal, options))
  addCommand(
    root,
    'computer',
    'make this machine a device of a room: a room PC or a signage player',
    computerOptions,
  ).action(async (_, command) => (await import('./computer.ts')).computerCommand(terminal, givenOptions(command)))
}

/** The program of the package roomkeeper-gateway. */
export function siteProgram(terminal: Terminal): Command {
  const root = rootCommand(terminal).description('Devices of meeting rooms for a Roomkeeper server.')
  addSiteCommands(root, terminal)
  return root
}
