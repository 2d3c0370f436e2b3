// Writes when keys were last used: in batches, unaudited. [contract 3.4]
import type { Keyring } from '../../platform/auth/keyring.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/log.ts'
import { updateLastUsed } from './store.ts'

const every = 5_000

/** Starts writing; what it returns stops it, after a last batch. */
export function writeLastUsed(db: Db, keyring: Keyring, log: Log): () => Promise<void> {
  const write = async () => {
    const uses = keyring.takeUses()
    if (uses.length === 0) return
    await db
      .telemetry((telemetry) => updateLastUsed(telemetry, uses))
      .catch(() => log.warn('last-used times not written: the database was not reached'))
  }
  const timer = setInterval(write, every)
  return async () => {
    clearInterval(timer)
    await write()
  }
}
