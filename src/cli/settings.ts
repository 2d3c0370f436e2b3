// `roomkeeper settings`: lists and changes the settings that all servers of a database share.
import { settingsList, settingsSet } from '../server/journal/settings/rules.ts'
import { cliActor, type DatabaseCommandOptions, withExistingDatabase } from './database-command.ts'
import { printResult, type Terminal } from './terminal/terminal.ts'

export const settingsListCommand = (terminal: Terminal, options: DatabaseCommandOptions) =>
  withExistingDatabase(options, async (services) => {
    const settings = await settingsList(services)
    const width = Math.max(...settings.map(({ name }) => name.length))
    printResult(
      terminal,
      options.json,
      { settings: settings.map(({ name, value }) => ({ name, value })) },
      settings.map(
        ({ name, value, isStored }) => `${name.padEnd(width)}  ${value}${isStored ? '' : '  (not stored yet)'}`,
      ),
    )
  })

export const settingsSetCommand = (terminal: Terminal, name: string, text: string, options: DatabaseCommandOptions) =>
  withExistingDatabase(options, async (services) => {
    const value = await settingsSet(services, cliActor(terminal), name, text)
    printResult(terminal, options.json, { name, value }, [
      `The setting ${name} is now ${value}. Running servers use it within a minute.`,
    ])
  })
