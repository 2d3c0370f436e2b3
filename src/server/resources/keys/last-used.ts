// Writes when keys and the sessions that stand for them were last used: in batches, unaudited. [contract 3.4] [contract 9.session]

import type { Keyring, TokenUse } from '../../auth/keyring.ts'
import type { Log } from '../../core/log.ts'
import type { Database } from '../../db/db.ts'
import { updateUsed } from '../sessions/store.ts'
import { updateLastUsed } from './store.ts'

const every = 5_000

/** Starts writing; what it returns stops it, after a last batch. */
export function startLastUsedWriter(db: Database, keyring: Keyring, log: Log): () => Promise<void> {
  const write = async () => {
    const uses = keyring.takeUses()
    if (uses.length === 0) return
    await db
      .systemTransaction(async (tx) => {
        await updateLastUsed(tx, byKey(uses))
        for (const { session, at } of uses) if (session) await updateUsed(tx, { hash: session, at })
      })
      .catch(() => log.warn('last-used times not written: the database was not reached'))
  }
  const timer = setInterval(write, every)
  return async () => {
    clearInterval(timer)
    await write()
  }
}

/** A key and its sessions may have been used at different times: the last one counts. */
function byKey(uses: readonly TokenUse[]): Iterable<TokenUse> {
  const last = new Map<string, TokenUse>()
  for (const use of uses) {
    const name = `${use.org}/${use.keyId}`
    if ((last.get(name)?.at ?? Number.NEGATIVE_INFINITY) < use.at) last.set(name, use)
  }
  return last.values()
}
