// Writes the last-used times of keys and sessions in batches, without audit entries. [contract 3.4] [contract 9.session]

import type { Keyring, TokenUse } from '../../auth/keyring.ts'
import type { Log } from '../../core/log.ts'
import type { Database } from '../../db/db.ts'
import { updateSessionUsed } from '../sessions/store.ts'
import { updateLastUsed } from './store.ts'

const writeIntervalMs = 5_000

/** Starts writing. The function that it returns writes a last batch and stops. */
export function startLastUsedWriter(db: Database, keyring: Keyring, log: Log): () => Promise<void> {
  const write = async () => {
    const uses = keyring.takeUses()
    if (uses.length === 0) return
    await db
      .systemTransaction(async (tx) => {
        await updateLastUsed(tx, latestByKey(uses))
        for (const { session, at } of uses) if (session) await updateSessionUsed(tx, { hash: session, at })
      })
      .catch(() => log.warn('last-used times not written: the database was not reached'))
  }
  const timer = setInterval(write, writeIntervalMs)
  return async () => {
    clearInterval(timer)
    await write()
  }
}

/** Returns the latest use of each key, directly or through one of its sessions. */
function latestByKey(uses: readonly TokenUse[]): Iterable<TokenUse> {
  const latest = new Map<string, TokenUse>()
  for (const use of uses) {
    const name = `${use.org}/${use.keyId}`
    if ((latest.get(name)?.at ?? Number.NEGATIVE_INFINITY) < use.at) latest.set(name, use)
  }
  return latest.values()
}
