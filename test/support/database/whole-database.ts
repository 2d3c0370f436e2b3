// A database with rows in every table, and everything that a database contains, for tests of copies and backups.

import type { KeyHolder } from '../../../src/server/auth/token-holder.ts'
import { listTables } from '../../../src/server/db/copy/catalog.ts'
import { readBatches, type TableRow } from '../../../src/server/db/copy/table-rows.ts'
import { withoutTransaction } from '../../../src/server/db/copy/transaction-side.ts'
import { openDatabase } from '../../../src/server/db/open.ts'
import { rollUp } from '../../../src/server/resources/sensors/rollups/roll-up.ts'
import { linkHolder, loginLinkCreate, sessionStartByLink } from '../../../src/server/resources/sessions/rules.ts'
import { enrolDevice } from '../devices/test-device.ts'
import { type Fixture, newFixture } from '../fixture.ts'
import type { Harness } from '../harness.ts'
import { newWayToSignIn } from '../person.ts'

/** Uses every part of the service once, so that no table is empty. */
export async function fillEveryTable(harness: Harness): Promise<Fixture> {
  const fixture = await newFixture(harness)
  const { call, room, profile, endpoint, region, person } = fixture
  const { services } = harness
  const config = { settingsPassword: 'Quite secret', nightMode: false }
  await call('POST', `/endpoints/${endpoint}/config`, { body: config })
  await call('POST', '/profiles', { body: { name: 'Locked', config } })
  await call('POST', `/rooms/${room}/profile`, { body: { profileId: profile } })
  await call('POST', `/rooms/${room}/regenerate_dec`)
  const unenrolled = await enrolDevice(harness, fixture, { roomId: room })
  await call('DELETE', `/endpoints/${unenrolled.answer.endpointId}`)
  await loginLinkCreate(fixture.by)
  const { secret } = await loginLinkCreate(fixture.by)
  await sessionStartByLink(services, (await linkHolder(services, secret)) as KeyHolder, secret, {})
  await call('POST', '/keys', { body: { name: 'One region', scopes: ['read'], regionIds: [region] } })
  await newWayToSignIn(harness, fixture, person.id, 'oidc')
  await newWayToSignIn(harness, fixture, person.id, 'passkey')
  await call('POST', `/users/${person.id}/invite`)
  await call('PUT', '/identity', { body: { passkeys: true } })
  // The quarter of an hour of the sample ends, so that it is rolled up; then a slot is due again.
  const due = services.db.system.kysely.selectFrom('sample_due').selectAll()
  const slots = await due.execute()
  harness.clock.advance(20 * 60_000)
  await rollUp(services)
  await services.db.systemTransaction(async ({ kysely }) => {
    // Only sign-ins write these two.
    const soon = harness.clock.now() + 60_000
    await kysely
      .insertInto('passkey_challenges')
      .values({ challenge: 'answered', purpose: 'sign-in', org: null, user_id: null, expires_at: soon })
      .execute()
    await kysely
      .insertInto('sign_in_refusals')
      .values({ org: fixture.org.key, identity: 'mallory@example.org', refused_at: harness.clock.now() })
      .execute()
    // The service releases its own tasks when it stops.
    await kysely.insertInto('tasks').values({ name: 'of no node', part: 0, node_id: 0 }).execute()
    await kysely
      .insertInto('sample_due')
      .values(slots)
      .onConflict((c) => c.doNothing())
      .execute()
  })
  return fixture
}

type Place = Harness['place']

/** The rows of every table, as comparable text. The content of log bundles is a table on PostgreSQL only. */
export async function contentOf(place: Place): Promise<Record<string, string[]>> {
  const { db } = await openDatabase(place, { isLocked: true, mustExist: true, onError() {} })
  try {
    const side = withoutTransaction(db)
    const content: Record<string, string[]> = {}
    for (const table of await listTables(side, side.engine)) {
      const rows: string[] = []
      for await (const batch of readBatches(side, table)) rows.push(...batch.map(textOf))
      content[table.name] = rows.sort()
    }
    return content
  } finally {
    await db.close()
  }
}

const textOf = (row: TableRow): string =>
  JSON.stringify(
    Object.entries(row)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, Buffer.isBuffer(value) ? value.toString('hex') : value]),
  )
