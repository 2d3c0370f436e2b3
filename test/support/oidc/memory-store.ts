// Stores what an oidc-provider creates in memory, and answers for its clients, which tests may change at any time.
import type { Adapter, AdapterPayload } from 'oidc-provider'

/** Returns the clients by their ids, in the words of OpenID Connect Dynamic Client Registration. */
export type FindClient = (id: string) => AdapterPayload | undefined

/** A provider with new keys continues on the store of the one before. */
export function memoryStore(findClient: FindClient): (model: string) => Adapter {
  const rows = new Map<string, AdapterPayload>()
  const byUid = new Map<string, string>()
  return (model) => {
    const keyOf = (id: string) => `${model}:${id}`
    const find = async (id: string) => (model === 'Client' ? findClient(id) : rows.get(keyOf(id)))
    return {
      upsert: async (id, payload) => {
        rows.set(keyOf(id), payload)
        if (payload.uid) byUid.set(keyOf(payload.uid), id)
      },
      find,
      findByUid: async (uid) => find(byUid.get(keyOf(uid)) ?? ''),
      findByUserCode: async () => undefined,
      consume: async (id) => {
        const row = rows.get(keyOf(id))
        if (row) row.consumed = Math.floor(Date.now() / 1000)
      },
      destroy: async (id) => {
        rows.delete(keyOf(id))
      },
      revokeByGrantId: async (grantId) => {
        for (const [key, row] of rows) if (row.grantId === grantId) rows.delete(key)
      },
    }
  }
}
