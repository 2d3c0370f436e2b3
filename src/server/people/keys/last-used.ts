// Writes the last-used times of keys, sessions and people in batches, without audit entries. [contract 3.4] [contract 9.session]

import type { Keyring, TokenUse } from '../../auth/keyring.ts'
import type { Services } from '../../context/services.ts'
import type { Log } from '../../core/log.ts'
import { updateSessionUsed } from '../sessions/store.ts'
import { updateUserSessionUsed } from '../sessions/user-session-store.ts'
import { updateLastSeen } from '../users/store.ts'
import { updateLastUsed } from './store.ts'

/**
 * Writes the uses since the last call in one batch. A batch that cannot be written is lost: the next use of the key follows. Every
 * node updates the rows in the same order, so that two nodes cannot wait for each other.
 */
export async function writeLastUsed({ db }: Services, keyring: Keyring, log: Log): Promise<void> {
  const uses = keyring.takeUses()
  if (uses.length === 0) return
  const bySession = uses.flatMap(({ session, keyId, at }) => (session ? [{ hash: session, keyId, at }] : []))
  bySession.sort((a, b) => Buffer.compare(a.hash, b.hash))
  const [ofKeys, ofPeople] = [
    bySession.filter(({ keyId }) => keyId !== undefined),
    bySession.filter(({ keyId }) => keyId === undefined),
  ]
  await db
    .separateTransaction(async (tx) => {
      const ofKey = latestUses(uses, 'keyId').map(({ org, id, at }) => ({ org, keyId: id, at }))
      await updateLastUsed(tx, ofKey)
      for (const { hash, at } of ofKeys) await updateSessionUsed(tx, { hash, at })
      for (const { hash, at } of ofPeople) await updateUserSessionUsed(tx, { hash, at })
      for (const use of latestUses(uses, 'userId')) await updateLastSeen(tx, use)
    })
    .catch(() => log.warn('last-used times not written: the database was not reached'))
}

interface LatestUse {
  readonly org: number
  readonly id: number
  readonly at: number
}

/** A key and its sessions may have been used at different times: the last one counts. The same holds for a person and their sessions. Sorted by the keys of the rows. */
function latestUses(uses: readonly TokenUse[], holder: 'keyId' | 'userId'): readonly LatestUse[] {
  const last = new Map<string, LatestUse>()
  for (const { org, at, [holder]: id } of uses) {
    if (id === undefined) continue
    const name = `${org}/${id}`
    if ((last.get(name)?.at ?? Number.NEGATIVE_INFINITY) < at) last.set(name, { org, id, at })
  }
  return [...last.values()].sort((a, b) => a.org - b.org || a.id - b.id)
}
