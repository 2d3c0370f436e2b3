// Defines the commands that import and export CSV files over HTTP.
import type { Command } from 'commander'
import { addConnectionOptions } from '../http/connection.ts'
import type { Terminal } from '../terminal/terminal.ts'

export function addCsvCommands(root: Command, terminal: Terminal): void {
  const importCommand = (parent: Command, description: string) =>
    addConnectionOptions(parent.command('import').description(description))
      .option('--output <file>', 'write the file back, with what became of each row')
      .option('--yes', 'do not ask before the changes')
      .option('--json', 'print JSON')

  const rooms = root.command('rooms').description('import and export rooms as CSV')
  importCommand(rooms, 'create and change the rooms of a CSV file; --output adds their enrolment codes')
    .argument('<file>', 'the CSV file')
    .option('--allow-rollout', 'let rooms with devices get another profile, which changes the settings of the devices')
    .action(async (file, options) => (await import('./rooms.ts')).roomsImport(terminal, file, options))
  addConnectionOptions(rooms.command('export').description('write all rooms as CSV, which "rooms import" takes'))
    .option('--output <file>', 'write to a file instead of standard output')
    .option('--bom', 'begin with a byte order mark, without which Excel does not read accents')
    .action(async (options) => (await import('./rooms.ts')).roomsExport(terminal, options))

  const endpoints = root.command('endpoints').description('import what is known about devices as CSV')
  importCommand(endpoints, 'change name, asset tag, dates and fields of the devices of a CSV file, by serial number')
    .argument('<file>', 'the CSV file')
    .action(async (file, options) => (await import('./endpoints.ts')).endpointsImport(terminal, file, options))

  const devices = root.command('gateway-devices').description('import devices behind a gateway as CSV')
  importCommand(devices, 'add and change the devices of a gateway; asks once for a password if the file has none')
    .argument('<gateway>', 'serial number or name of the gateway')
    .argument('<file>', 'the CSV file')
    .option('--set-secrets', 'send the passwords of devices that exist, too')
    .action(async (gateway, file, options) =>
      (await import('./gateway-devices.ts')).gatewayDevicesImport(terminal, gateway, file, options),
    )

  const sourceDevices = root.command('source-devices').description('import the rooms of devices of a source as CSV')
  importCommand(sourceDevices, 'put devices of a source into rooms, exclude them, or take them back')
    .argument('<file>', 'the CSV file; "api source-devices list" with --csv writes one')
    .option('--source <source>', 'id or name of the source; needed if there are several')
    .action(async (file, options) => (await import('./source-devices.ts')).sourceDevicesImport(terminal, file, options))
}
