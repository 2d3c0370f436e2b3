// Ties a secret key to its database: a wrong or missing one is noticed before it spoils anything.

import { StartupError } from '../core/failure.ts'
import { loadSecrets, type Secrets } from '../core/secrets.ts'
import type { Database } from './db.ts'
import { query, queryOne } from './query.ts'

const find = queryOne((db, p: { name: string }) => db.selectFrom('settings').select('value').where('name', '=', p.name))
const insert = query((db, p: { name: string; value: string }) =>
  db
    .insertInto('settings')
    .values({ name: p.name, value: p.value })
    .onConflict((c) => c.doNothing()),
)

/** The secrets that belong to this database; a new database takes the key that is there, or gets one. */
export async function loadDatabaseSecrets(db: Database, file: string): Promise<Secrets> {
  const known = await find(db, { name: 'secret identity' })
  const secrets = loadSecrets(file, known === undefined)
  if (known === undefined) {
    await db.telemetry((telemetry) => insert(telemetry, { name: 'secret identity', value: secrets.identity }))
  }
  const owner = known ?? (await find(db, { name: 'secret identity' }))
  if (owner?.value !== secrets.identity) {
    throw new StartupError(`${file} is not the secret key that this database was made with. Restore the right one.`)
  }
  return secrets
}
