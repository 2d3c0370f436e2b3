// A database with rows in every table, and everything that a database contains, for tests of copies and backups.

import type { KeyHolder } from '../../../src/server/auth/token-holder.ts'
import { listTables } from '../../../src/server/db/copy/catalog.ts'
import { readBatches, type TableRow } from '../../../src/server/db/copy/table-rows.ts'
import { withoutTransaction } from '../../../src/server/db/copy/transaction-side.ts'
import { openDatabase } from '../../../src/server/db/open.ts'
import { markConnected } from '../../../src/server/fleet/endpoints/presence.ts'
import { upsertJudgedUntil } from '../../../src/server/incidents/engine/restarts/settle-store.ts'
import { recordRefusedSignIn } from '../../../src/server/people/sessions/refusals.ts'
import { linkHolder, loginLinkCreate, sessionStartByLink } from '../../../src/server/people/sessions/rules.ts'
import { inviteUser } from '../../../src/server/people/sessions/user-links.ts'
import { rollUp } from '../../../src/server/sensors/rollups/roll-up.ts'
import { storedConnection } from '../devices/stored-connection.ts'
import { enrolTestDevice } from '../devices/test-device.ts'
import { type Fixture, newFixture } from '../fixture.ts'
import type { Harness } from '../harness.ts'
import { newWayToSignIn } from '../person.ts'

/** Uses every part of the service once, so that no table is empty. */
export async function fillEveryTable(harness: Harness): Promise<Fixture> {
  const fixture = await newFixture(harness)
  const { call, room, profile, endpoint, region, location, source, person } = fixture
  const { services } = harness
  // Disabled, so that the messages about the changes below wait for it.
  const log = {
    name: 'Audit',
    kind: 'webhook',
    url: 'https://hooks.example.org/audit',
    events: ['audit.entry'],
    enabled: false,
  }
  await call('POST', '/channels', { body: log })
  const config = { settingsPassword: 'Quite secret', nightMode: false }
  await call('POST', `/endpoints/${endpoint}/config`, { body: config })
  await call('POST', '/profiles', {
    body: { name: 'Locked', config },
    headers: { 'Idempotency-Key': 'profile-locked' },
  })
  await call('POST', `/rooms/${room}/profile`, { body: { profileId: profile } })
  await call('POST', `/rooms/${room}/regenerate_dec`)
  const unenrolled = (await enrolTestDevice(harness, fixture, { roomId: room })).answer
  // Its deletion ends this connection.
  await markConnected(services, await storedConnection(services, unenrolled.endpointId, unenrolled.credential))
  await call('DELETE', `/endpoints/${unenrolled.endpointId}`)
  const deleted = (await call('POST', '/rooms', { body: { name: 'Closed' } })).body.id
  await call('DELETE', `/rooms/${deleted}`)
  const changeWindow = { days: ['mon'], from: '01:00', to: '05:00' }
  await call('PUT', `/locations/${location}`, { body: { changeWindow } })
  await call('PUT', `/sources/${source}/links`, { body: { links: [{ kind: 'room', theirId: '12', linkedId: room }] } })
  await loginLinkCreate(fixture.ctx)
  const { secret } = await loginLinkCreate(fixture.ctx)
  await sessionStartByLink(services, (await linkHolder(services, secret)) as KeyHolder, secret, {})
  await call('POST', '/keys', { body: { name: 'One region', scopes: ['read'], regionIds: [region] } })
  await newWayToSignIn(harness, fixture, person.id, 'oidc')
  await call('PUT', '/identity', { body: { passkeys: true } })
  await call('PUT', '/incident_rules/storage.low', { body: { severity: 'INFO' } })
  await inviteUser(fixture.ctx, fixture.user)
  // The running server would go on with jobs that are open, and so change rows that tests compare.
  await services.db.systemTransaction(({ kysely }) =>
    kysely.updateTable('jobs').set({ state: 'CANCELLED', ended_at: services.clock.now() }).execute(),
  )
  // The engine writes it once devices had their time to come back after a start.
  await services.db.forOrg(fixture.org.key).telemetry((tx) => upsertJudgedUntil(tx, { judgedUntil: 1 }))
  const target = { type: 'user', id: fixture.user, name: 'ada@example.org' }
  const refusal = {
    identity: `user ${fixture.user}`,
    target,
    via: 'link',
    reason: 'This account is disabled.',
  } as const
  await recordRefusedSignIn(services, fixture.org, refusal, {})
  // The quarter of an hour of the sample ends, and is rolled up. A quarter that has not ended stays due.
  const due = services.db.system.kysely.selectFrom('sample_due').selectAll()
  const slots = await due.execute()
  harness.clock.advance(20 * 60_000)
  await rollUp(services)
  await services.db.systemTransaction(async ({ kysely }) => {
    // The service releases its own tasks when it stops.
    const attempts = { kind: 'refused', minute: 60_000, address: '192.0.2.1', count: 3 } as const
    await kysely
      .insertInto('credential_attempts')
      .values({ org: fixture.org.key, endpoint_id: endpoint, ...attempts })
      .execute()
    // A source was away before it was deleted.
    await kysely
      .insertInto('former_source_absences')
      .values({ org: fixture.org.key, source_id: endpoint, since: 1, until: 2, deleted_at: 3 })
      .execute()
    // A peripheral is known after an hour.
    await kysely
      .insertInto('known_peripherals')
      .values({ org: fixture.org.key, endpoint_id: endpoint, peripherals: '[]' })
      .execute()
    // A test needs a gateway that is connected.
    const [item] = await kysely.selectFrom('gateway_devices').selectAll().limit(1).execute()
    if (!item) throw new Error('no gateway has an item')
    const { org, gateway_id, driver, host, port, username, options, fingerprint } = item
    const tested = { driver, host, port, username, options, fingerprint, secrets: null }
    await kysely
      .insertInto('gateway_tests')
      .values({ org, gateway_id, id: endpoint, ...tested, created_at: 1, ended: 1, answer: '{}' })
      .execute()
    // The channel is disabled, so nothing is announced to it.
    const [channel] = await kysely.selectFrom('channels').select(['org', 'id as channel_id']).execute()
    const [incident] = await kysely.selectFrom('incidents').select('id as incident_id').execute()
    if (!channel || !incident) throw new Error('there is no channel or no incident')
    await kysely
      .insertInto('announced_incidents')
      .values({ ...channel, ...incident, message: 1, size: 1, has_grown: 0 })
      .execute()
    // The jobs of the fixture move nothing.
    const [unit] = await kysely.selectFrom('job_units').select(['org', 'job_id', 'number as unit']).limit(1).execute()
    if (!unit) throw new Error('no job has a unit')
    const move = { endpoint_id: endpoint, room_before: null, room_after: fixture.room }
    await kysely
      .insertInto('job_moves')
      .values({ ...unit, ...move })
      .execute()
    // The recurring jobs of the fixture have had no run.
    const run = { recurring_job: Number(fixture.recurringJobs.active), at: 0, timezone: 'UTC' }
    await kysely
      .insertInto('recurring_job_runs')
      .values({ org: fixture.org.key, ...run, job_id: null, reason: 'Skipped.' })
      .execute()
    await kysely.insertInto('tasks').values({ name: 'of no node', part: 0, node_id: 0 }).execute()
    // A passkey needs a browser, and a public address.
    const owned = { org: fixture.org.key, user_id: Number(fixture.user) }
    const keyOfPasskey = { public_key: Buffer.from([1, 2, 3]), counter: 7, transports: '["internal"]' }
    await kysely
      .insertInto('passkeys')
      .values({
        ...owned,
        ...keyOfPasskey,
        id: 'cGFzc2tleQ',
        number: 900,
        name: 'Laptop',
        created_at: 1,
        used_at: null,
      })
      .execute()
    await kysely
      .insertInto('passkey_challenges')
      .values({ ...owned, challenge: 'Y2hhbGxlbmdl', purpose: 'sign-in', expires_at: 9_000_000_000_000 })
      .execute()
    await kysely
      .insertInto('sample_due')
      .values(slots.map((due) => ({ ...due, slot: due.slot + 1_000_000 })))
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
