// The few facts about a database as a whole.
import type { Db } from './db/db.ts'
import { query, queryOne } from './db/query.ts'
import { Refusal } from './failure.ts'
import { loadSecrets, type Secrets } from './secrets.ts'

const find = queryOne((db, p: { name: string }) => db.selectFrom('settings').select('value').where('name', '=', p.name))
const insert = query((db, p: { name: string; value: string }) =>
  db
    .insertInto('settings')
    .values({ name: p.name, value: p.value })
    .onConflict((c) => c.doNothing()),
)

/** The secrets that belong to this database: a wrong or missing key is noticed before it spoils anything. */
export async function secretsOf(db: Db, file: string): Promise<Secrets> {
  const known = await find(db, { name: 'secret identity' })
  const secrets = loadSecrets(file, known === undefined)
  if (known === undefined) {
    await db.telemetry((telemetry) => insert(telemetry, { name: 'secret identity', value: secrets.identity }))
  }
  const owner = known ?? (await find(db, { name: 'secret identity' }))
  if (owner?.value !== secrets.identity) {
    throw new Refusal(`${file} is not the secret key that this database was made with. Restore the right one.`)
  }
  return secrets
}
