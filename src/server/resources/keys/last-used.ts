// Writes the last-used times of keys and sessions in batches, without audit entries. [contract 3.4] [contract 9.session]

import type { Keyring, TokenUse } from '../../auth/keyring.ts'
import type { Services } from '../../context/services.ts'
import type { Log } from '../../core/log.ts'
import { refuseUnlessUp } from '../../nodes/store.ts'
import { updateSessionUsed } from '../sessions/store.ts'
import { updateLastUsed } from './store.ts'

/**
 * Writes the uses since the last call in one batch. A batch that cannot be written is lost: the next use of the key follows. Every
 * node updates the rows in the same order, so that two nodes cannot wait for each other.
 */
export async function writeLastUsed({ db, node }: Services, keyring: Keyring, log: Log): Promise<void> {
  const uses = keyring.takeUses()
  if (uses.length === 0) return
  const bySession = uses.flatMap(({ session, at }) => (session ? [{ hash: session, at }] : []))
  bySession.sort((a, b) => Buffer.compare(a.hash, b.hash))
  await db
    .separateTransaction(async (tx) => {
      await updateLastUsed(tx, latestByKey(uses))
      for (const use of bySession) await updateSessionUsed(tx, use)
      if (node && db.fence) await refuseUnlessUp(tx, { id: node.id })
    })
    .catch(() => log.warn('last-used times not written: the database was not reached'))
}

/** A key and its sessions may have been used at different times: the last one counts. Sorted by the keys of the rows. */
function latestByKey(uses: readonly TokenUse[]): readonly KeyUse[] {
  const last = new Map<string, KeyUse>()
  for (const use of uses.filter(isOfKey)) {
    const name = `${use.org}/${use.keyId}`
    if ((last.get(name)?.at ?? Number.NEGATIVE_INFINITY) < use.at) last.set(name, use)
  }
  return [...last.values()].sort((a, b) => a.org - b.org || a.keyId - b.keyId)
}

type KeyUse = TokenUse & { readonly keyId: number }
const isOfKey = (use: TokenUse): use is KeyUse => use.keyId !== undefined
