// Binds a secret key to its database, so that a wrong or missing key is noticed before anything is sealed or signed with it.

import { StartupError } from '../core/failure.ts'
import { loadSecrets, type Secrets } from '../core/secrets.ts'
import type { Database } from './db.ts'
import { systemQueryOne, systemWrite } from './system.ts'

const findSetting = systemQueryOne((db, p: { name: string }) =>
  db.selectFrom('settings').select('value').where('name', '=', p.name),
)
const insertSetting = systemWrite((db, p: { name: string; value: string }) =>
  db
    .insertInto('settings')
    .values({ name: p.name, value: p.value })
    .onConflict((c) => c.doNothing()),
)

/** Loads the secrets that belong to this database; a new database uses the existing key file, or creates one. */
export async function loadDatabaseSecrets(db: Database, file: string): Promise<Secrets> {
  const stored = await findSetting(db.system, { name: 'secret identity' })
  const secrets = loadSecrets(file, stored === undefined)
  if (stored === undefined) {
    await db.systemTransaction((tx) => insertSetting(tx, { name: 'secret identity', value: secrets.identity }))
  }
  const expected = stored ?? (await findSetting(db.system, { name: 'secret identity' }))
  if (expected?.value !== secrets.identity) {
    throw new StartupError(`${file} is not the secret key that this database was made with. Restore the right one.`)
  }
  return secrets
}
