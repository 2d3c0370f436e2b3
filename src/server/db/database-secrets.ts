// Binds a secret key to its database, so that a wrong or missing key is noticed before anything is sealed or signed with it.

import { setTimeout as sleep } from 'node:timers/promises'
import { StartupError } from '../core/failure.ts'
import {
  adoptDraft,
  draftSecrets,
  loadSecrets,
  readSecrets,
  type Secrets,
  secretKeyVariable,
  secretsOfKey,
} from '../core/secrets.ts'
import { timeLimits } from '../core/time-limits.ts'
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

const identityName = 'secret identity'

const filePauseMs = 50

/** Loads the secrets that belong to this database: the given key, or that of the file, which a new database creates if it is missing. */
export async function loadDatabaseSecrets(db: Database, file: string, key?: string): Promise<Secrets> {
  const given = key === undefined ? undefined : secretsOfKey(key)
  if (given) return requireIdentity(given, await storeIdentity(db, given), secretKeyVariable)
  const identity = (await findSetting(db.system, { name: identityName }))?.value
  const present = readSecrets(file)
  if (identity !== undefined)
    return requireIdentity(present ?? adoptDraft(file, identity) ?? loadSecrets(file), identity, file)
  if (present) return requireIdentity(present, await storeIdentity(db, present), file)
  return createSecrets(db, file)
}

/** Returns the identity that the database has now: that of the first of several starts. */
async function storeIdentity(db: Database, { identity }: Secrets): Promise<string> {
  const stored = (await findSetting(db.system, { name: identityName }))?.value
  if (stored !== undefined) return stored
  await db.systemTransaction((tx) => insertSetting(tx, { name: identityName, value: identity }))
  return (await findSetting(db.system, { name: identityName }))?.value ?? identity
}

/**
 * The database decides whose key counts when several servers start on it at the same time; only that one is put in place. The key is on disk as a
 * draft before, so that a crash in between does not lose it.
 */
async function createSecrets(db: Database, file: string): Promise<Secrets> {
  const draft = draftSecrets(file)
  try {
    const identity = await storeIdentity(db, draft.secrets)
    if (identity !== draft.secrets.identity) return await waitForSecrets(file, identity)
    draft.putInPlace()
    return requireIdentity(loadSecrets(file), identity, file)
  } finally {
    draft.remove()
  }
}

/** The server that came first may use the same folder, and is about to write its key: it does so immediately. */
async function waitForSecrets(file: string, identity: string): Promise<Secrets> {
  for (let waitedMs = 0; waitedMs < timeLimits.secretFileMs; waitedMs += filePauseMs) {
    const secrets = readSecrets(file)
    if (secrets) return requireIdentity(secrets, identity, file)
    await sleep(filePauseMs)
  }
  throw new StartupError(
    `Another server that started on this database at the same time made its secret key. Copy the key file of that server to ${file}, then start this one again.`,
  )
}

function requireIdentity(secrets: Secrets, identity: string, source: string): Secrets {
  if (secrets.identity === identity) return secrets
  throw new StartupError(`${source} is not the secret key that this database was made with. Restore the right one.`)
}
