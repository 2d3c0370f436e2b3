// The last-used times of keys, sessions and people, written by several nodes.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { engine, type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { newPerson } from '../../../../test/support/person.ts'
import { until } from '../../../../test/support/program.ts'
import type { Keyring, TokenUse } from '../../auth/keyring.ts'
import { tokenHash } from '../../auth/token.ts'
import { makeLog } from '../../core/log.ts'
import { insertSession } from '../sessions/store.ts'
import { writeLastUsed } from './last-used.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const hash = Buffer.alloc(32, 7)
/** A use that is later than every use of the running service. */
const later = Date.UTC(2090, 0, 1)

const write = (...uses: TokenUse[]) =>
  writeLastUsed(harness.services, { takeUses: () => uses } as unknown as Keyring, makeLog('silent'))
const use = (at: number, session?: Buffer): TokenUse => ({ org: org.org.key, keyId: 1, userId: undefined, at, session })
const times = async () => {
  const { kysely } = harness.services.db.system
  const key = await kysely
    .selectFrom('api_keys')
    .select('last_used_at')
    .where('org', '=', org.org.key)
    .executeTakeFirstOrThrow()
  const session = await kysely.selectFrom('sessions').select('used_at').executeTakeFirstOrThrow()
  return [key.last_used_at, session.used_at]
}

test('a use that another node wrote earlier sets no time back [contract 3.4]', async () => {
  await harness.services.db.systemTransaction((tx) =>
    insertSession(tx.forOrg(org.org.key), { hash, key_id: 1, created_at: 1, used_at: 1 }),
  )
  await write(use(later, hash))
  expect(await times()).toEqual([later, later])
  await write(use(later - 5000, hash))
  expect(await times()).toEqual([later, later])
  await write(use(later + 5000, hash))
  expect(await times()).toEqual([later + 5000, later + 5000])
})

test('the use of a session of a person is written for the session and the person, and sets no time back [contract 3.4]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'viewer' })
  const [session, userId] = [tokenHash(person.session), Number(person.id)]
  const used = (at: number): TokenUse => ({ org: org.org.key, keyId: undefined, userId, at, session })
  const { kysely } = harness.services.db.system
  const read = async () => {
    const of = kysely.selectFrom('user_sessions').select('used_at').where('hash', '=', session)
    const { lastSeenAt } = (await org.call('GET', `/users/${person.id}`)).body
    return [(await of.executeTakeFirstOrThrow()).used_at, lastSeenAt && Date.parse(lastSeenAt)]
  }
  expect((await read())[1], 'never seen').toBeUndefined()
  await write(used(later))
  expect(await read()).toEqual([later, later])
  await write(used(later - 5000))
  expect(await read()).toEqual([later, later])
  // A personal key counts as a use of its person, and not of the session.
  await write({ org: org.org.key, keyId: Number(person.keyId), userId, at: later + 5000, session: undefined })
  expect(await read()).toEqual([later, later + 5000])
})

test.runIf(engine === 'postgres')('a node that was declared dead writes no last-used times', async () => {
  const { db, node } = harness.services
  const idBefore = node?.id as number
  const before = await times()
  await db.schema.updateTable('nodes').set({ state: 'dead' }).where('id', '=', idBefore).execute()
  await write(use(later + 60_000, hash))
  // The beat of the node may have noticed it already: then it has written under its new row.
  if (node?.id === idBefore) expect(await times()).toEqual(before)
  await until('the node has a new row', () => node?.id !== idBefore)
  await write(use(later + 120_000, hash))
  expect(await times()).toEqual([later + 120_000, later + 120_000])
})

test.runIf(engine === 'postgres')('a key that another session has locked delays no other commit', async () => {
  const { db } = harness.services
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  const { promise: held, resolve: holds } = Promise.withResolvers<void>()
  const other = db.schema.transaction().execute(async (kysely) => {
    await sql`select 1 from api_keys for update`.execute(kysely)
    holds()
    await over
  })
  await held
  let isWritten = false
  const writing = write(use(later + 180_000)).then(() => {
    isWritten = true
  })
  await db.systemTransaction(({ kysely }) => sql`select 1`.execute(kysely))
  expect(isWritten).toBe(false)
  end()
  await Promise.all([other, writing])
  expect((await times())[0]).toBe(later + 180_000)
})
