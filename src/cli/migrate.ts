// `roomkeeper migrate`: opening the database brings it up to date; this says what was done.
import { type PlaceAndFormat, withGround } from './ground.ts'
import { print, type Terminal } from './terminal.ts'

export const migrateCommand = (terminal: Terminal, options: PlaceAndFormat) =>
  withGround(options, async (_ground, { migrated }) =>
    print(
      terminal,
      options.json,
      { migrated },
      migrated.length === 0 ? ['The database is up to date.'] : migrated.map((name) => `Applied ${name}.`),
    ),
  )
