// The secret key of a new database, when the start that made it was killed before the file was in place.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { draftSecrets } from '../../../src/server/core/secrets.ts'
import { loadDatabaseSecrets } from '../../../src/server/db/database-secrets.ts'
import { openDatabase } from '../../../src/server/db/open.ts'
import { newPlace } from '../../support/harness.ts'

test('a start finds the key that an interrupted start had stored in the database, and no other draft', async () => {
  const { place, remove } = await newPlace()
  const { db } = await openDatabase(place, { isLocked: false, mustExist: false, onError() {} })
  const file = join(place.dataDir, 'secret.key')
  const keys = () => readdirSync(place.dataDir).filter((name) => name.startsWith('secret.key'))
  const other = draftSecrets(file)
  const { secrets } = draftSecrets(file)
  await db.systemTransaction(async ({ kysely }) => {
    await kysely.insertInto('settings').values({ name: 'secret identity', value: secrets.identity }).execute()
  })
  expect(keys()).toHaveLength(2)
  expect((await loadDatabaseSecrets(db, file)).identity).toBe(secrets.identity)
  other.remove()
  expect(keys()).toEqual(['secret.key'])
  expect((await loadDatabaseSecrets(db, file)).identity).toBe(secrets.identity)
  await db.close()
  await remove()
})

test('a missing key without a draft is refused, and no new key is made', async () => {
  const { place, remove } = await newPlace()
  const { db } = await openDatabase(place, { isLocked: false, mustExist: false, onError() {} })
  await db.systemTransaction(async ({ kysely }) => {
    await kysely.insertInto('settings').values({ name: 'secret identity', value: 'ab' }).execute()
  })
  const file = join(place.dataDir, 'secret.key')
  await expect(loadDatabaseSecrets(db, file)).rejects.toThrow(/secret\.key is missing/)
  expect(readdirSync(place.dataDir).filter((name) => name.startsWith('secret.key'))).toEqual([])
  await db.close()
  await remove()
})
