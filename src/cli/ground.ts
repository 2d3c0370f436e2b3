// Opens the database for a command that works on it directly, also while a server runs.
import { openGround } from '../app.ts'
import type { Actor, Ground } from '../platform/by.ts'
import { systemClock } from '../platform/clock.ts'
import { checkExists, type Opened } from '../platform/db/open.ts'
import type { PlaceOptions } from '../platform/options.ts'
import type { Terminal } from './terminal.ts'

export interface PlaceAndFormat extends PlaceOptions {
  readonly json?: boolean
}

/** For commands that need something to be there already. */
export function withExisting<T>(options: PlaceOptions, work: (ground: Ground) => Promise<T>): Promise<T> {
  checkExists(options)
  return withGround(options, work)
}

export async function withGround<T>(
  options: PlaceOptions,
  work: (ground: Ground, opened: Opened) => Promise<T>,
): Promise<T> {
  const { ground, opened } = await openGround(options, {
    clock: systemClock,
    isLocked: false,
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
