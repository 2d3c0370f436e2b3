// Binds a secret key to its database, so that a wrong or missing key is noticed before anything is sealed or signed with it.

import { StartupError } from '../core/failure.ts'
import { loadSecrets, type Secrets, secretKeyVariable, secretsOfKey } from '../core/secrets.ts'
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

/** Loads the secrets that belong to this database: the given key, or that of the file, which a new database creates if it is missing. */
export async function loadDatabaseSecrets(db: Database, file: string, key?: string): Promise<Secrets> {
  const stored = await findSetting(db.system, { name: 'secret identity' })
  const secrets = key === undefined ? loadSecrets(file, stored === undefined) : secretsOfKey(key)
  if (stored === undefined) {
    await db.systemTransaction((tx) => insertSetting(tx, { name: 'secret identity', value: secrets.identity }))
  }
  const expected = stored ?? (await findSetting(db.system, { name: 'secret identity' }))
  if (expected?.value !== secrets.identity) {
    const source = key === undefined ? file : secretKeyVariable
    throw new StartupError(`${source} is not the secret key that this database was made with. Restore the right one.`)
  }
  return secrets
}
