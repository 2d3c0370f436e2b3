// `roomkeeper migrate`: applies database migrations, which happens whenever a database is opened, and prints them.
import { type DatabaseCommandOptions, withDatabase } from './database-command.ts'
import { printResult, type Terminal } from './terminal/terminal.ts'

export const migrateCommand = (terminal: Terminal, options: DatabaseCommandOptions) =>
  withDatabase(options, async (_services, { migrated }) =>
    printResult(
      terminal,
      options.json,
      { migrated },
      migrated.length === 0 ? ['The database is up to date.'] : migrated.map((name) => `Applied ${name}.`),
    ),
  )
