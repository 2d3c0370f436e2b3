// Writes the last-used times of keys and sessions in batches, without audit entries. [contract 3.4] [contract 9.session]

import type { Keyring, TokenUse } from '../../auth/keyring.ts'
import type { Log } from '../../core/log.ts'
import type { Database } from '../../db/db.ts'
import { updateSessionUsed } from '../sessions/store.ts'
import { updateLastUsed } from './store.ts'

/** Writes the uses since the last call in one batch. A batch that cannot be written is lost: the next use of the key follows. */
export async function writeLastUsed(db: Database, keyring: Keyring, log: Log): Promise<void> {
  const uses = keyring.takeUses()
  if (uses.length === 0) return
  await db
    .systemTransaction(async (tx) => {
      await updateLastUsed(tx, latestByKey(uses))
      for (const { session, at } of uses) if (session) await updateSessionUsed(tx, { hash: session, at })
    })
    .catch(() => log.warn('last-used times not written: the database was not reached'))
}

/** A key and its sessions may have been used at different times: the last one counts. */
function latestByKey(uses: readonly TokenUse[]): Iterable<TokenUse> {
  const last = new Map<string, TokenUse>()
  for (const use of uses) {
    const name = `${use.org}/${use.keyId}`
    if ((last.get(name)?.at ?? Number.NEGATIVE_INFINITY) < use.at) last.set(name, use)
  }
  return last.values()
}
