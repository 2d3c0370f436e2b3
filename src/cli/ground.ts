// Opens the database for a command, which may run beside a server on the same database.
import type { Actor, Ground } from '../platform/by.ts'
import { systemClock } from '../platform/clock.ts'
import type { Opened } from '../platform/db/open.ts'
import { openGround } from '../platform/ground.ts'
import type { PlaceOptions } from '../platform/options.ts'
import type { Terminal } from './terminal.ts'

export interface DatabaseCommandOptions extends PlaceOptions {
  readonly json?: boolean
}

/** Fails if there is no database yet. */
export const withExistingDatabase = <T>(options: PlaceOptions, work: (ground: Ground) => Promise<T>): Promise<T> =>
  open(options, true, work)

/** Creates the database if there is none yet. */
export const withDatabase = <T>(
  options: PlaceOptions,
  work: (ground: Ground, opened: Opened) => Promise<T>,
): Promise<T> => open(options, false, work)

async function open<T>(
  options: PlaceOptions,
  mustExist: boolean,
  work: (ground: Ground, opened: Opened) => Promise<T>,
): Promise<T> {
  const { ground, opened } = await openGround(options, {
    clock: systemClock,
    isLocked: false,
    mustExist,
    keysChanged: () => {},
    onError: () => {},
  })
  try {
    return await work(ground, opened)
  } finally {
    await ground.db.close()
  }
}

export const cliActor = (terminal: Terminal): Actor => {
  const user = terminal.user()
  return { type: 'CLI', id: user, name: user }
}
