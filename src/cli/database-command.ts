// Opens the database for a command, which may run beside a server on the same database.

import type { DatabaseOptions } from '../server/config/server-options.ts'
import { withRecordedDatabase } from '../server/config/server-record.ts'
import { openServices } from '../server/context/open-services.ts'
import type { Actor } from '../server/context/request-context.ts'
import type { Services } from '../server/context/services.ts'
import { systemClock } from '../server/core/clock.ts'
import { StartupError } from '../server/core/failure.ts'
import type { OpenedDatabase } from '../server/db/open.ts'
import { listPlacesOf } from '../server/journal/places/store.ts'
import type { Terminal } from './terminal/terminal.ts'

export interface DatabaseCommandOptions extends DatabaseOptions {
  readonly json?: boolean
}

/** Fails if there is no database yet. */
export const withExistingDatabase = <T>(
  options: DatabaseOptions,
  work: (services: Services) => Promise<T>,
): Promise<T> => open(options, true, work)

/** Creates the database if there is none yet. */
export const withDatabase = <T>(
  options: DatabaseOptions,
  work: (services: Services, opened: OpenedDatabase) => Promise<T>,
): Promise<T> => open(options, false, work)

async function open<T>(
  options: DatabaseOptions,
  mustExist: boolean,
  work: (services: Services, opened: OpenedDatabase) => Promise<T>,
): Promise<T> {
  const databaseOptions = { isLocked: false, mustExist, onError: () => {} }
  const { services, opened, close } = await withRecordedAddress(options, (place) =>
    openServices(place, databaseOptions, systemClock, (db, org, wanted) => listPlacesOf(db.forOrg(org), wanted)),
  )
  try {
    return await work(services, opened)
  } finally {
    await close()
  }
}

/** Uses the database that the server recorded if no option names one, and says so if that cannot be reached. */
export async function withRecordedAddress<T>(
  options: DatabaseOptions,
  work: (place: DatabaseOptions) => Promise<T>,
): Promise<T> {
  const place = withRecordedDatabase(options)
  try {
    return await work(place)
  } catch (error) {
    const isRecorded = place.databaseUrl !== options.databaseUrl
    if (!isRecorded || !(error instanceof StartupError) || !error.message.startsWith('Cannot reach')) throw error
    throw new StartupError(
      `${error.message} The server recorded its database without the password: give it with ROOMKEEPER_DATABASE_URL or PGPASSWORD.`,
    )
  }
}

export const cliActor = (terminal: Terminal): Actor => {
  const user = terminal.user()
  return { type: 'CLI', id: user, name: user }
}
