// Opens the database for a command that works on it directly, also while a server runs.

import type { PlaceOptions } from '../server/config/options.ts'
import { openGround } from '../server/context/open-services.ts'
import type { Actor, Ground } from '../server/context/request-context.ts'
import { systemClock } from '../server/core/clock.ts'
import type { Opened } from '../server/db/open.ts'
import type { Terminal } from './terminal.ts'

export interface PlaceAndFormat extends PlaceOptions {
  readonly json?: boolean
}

/** For commands that need something to be there already. */
export const withExisting = <T>(options: PlaceOptions, work: (ground: Ground) => Promise<T>): Promise<T> =>
  open(options, true, work)

/** For commands that may make a database. */
export const withGround = <T>(
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
