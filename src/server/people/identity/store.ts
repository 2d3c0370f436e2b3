// Holds the SQL of the identity providers of organisations.

import { queryOne, write } from '../../db/queries/query.ts'

export const findIdentityRow = queryOne((db, p: { org: number }) =>
  db
    .selectFrom('identity_providers')
    .select(['version', 'settings', 'client_secret', 'tested_settings', 'tested_at'])
    .where('org', '=', p.org),
)

interface IdentityValues {
  readonly org: number
  readonly settings: string
  readonly client_secret: Buffer | null
}

export const writeIdentity = write((db, p: IdentityValues) =>
  db
    .insertInto('identity_providers')
    .values({
      org: p.org,
      version: 1,
      settings: p.settings,
      client_secret: p.client_secret,
      tested_settings: null,
      tested_at: null,
    })
    .onConflict((c) =>
      c.column('org').doUpdateSet((e) => ({
        version: e('identity_providers.version', '+', 1),
        settings: e.ref('excluded.settings'),
        client_secret: e.ref('excluded.client_secret'),
      })),
    ),
)

export const updateTested = write((db, p: { org: number; hash: string; at: number }) =>
  db
    .updateTable('identity_providers')
    .set((e) => ({ tested_settings: p.hash, tested_at: p.at, version: e('version', '+', 1) }))
    .where('org', '=', p.org),
)
