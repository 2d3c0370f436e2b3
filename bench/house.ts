// An organisation to measure in: rooms with endpoints that have reported what real ones report, and that could all connect.
import { randomUUID } from 'node:crypto'
import { type Insertable, sql } from 'kysely'
import { codeMac, defaultDecTimeout, makeCode, sealContext } from '../src/platform/auth/enrolment-code.ts'
import type { Org } from '../src/platform/auth/keyring.ts'
import { makeCredential, tokenHash } from '../src/platform/auth/token.ts'
import type { Ground } from '../src/platform/by.ts'
import type { Schema } from '../src/platform/db/schema.ts'
import type { Identity } from './mqtt-load.ts'

export interface House {
  readonly org: Org
  readonly rooms: readonly number[]
  readonly devices: readonly Identity[]
}

const perRoom = 5
const perLocation = 100
export const houseModel = 'NF19B1'
/** Rows of one statement. */
const batch = 1000

const statusOf = (number: number) =>
  JSON.stringify({
    inCallStatus: 'NONE',
    primaryMode: 'zoom',
    firmwareVersion: 'NFB1.20260401.0001',
    firmwareVersionReleaseName: '26.2',
    latestVersion: 'NFB1.20260401.0001',
    latestVersionReleaseName: '26.2',
    otaChannel: 'stable',
    upgradeStatus: 'IDLE',
    hasScheduledFirmwareUpdate: false,
    hasUnscheduledFirmwareUpdate: false,
    isLatestVersionScheduledForNow: false,
    buildType: 'user',
    localIpAddress: `10.0.${(number >> 8) & 255}.${number & 255}`,
    networks: [
      {
        linkUp: true,
        mode: 'NETWORK_MODE_DHCP',
        mtu: 1500,
        addresses: [{ address: { ipv4: 'CgABCg==' }, broadcast: { ipv4: 'CgAB/w==' }, prefix: 24 }],
        gateway: [{ ipv4: 'CgABAQ==' }],
        type: 'NETWORK_TYPE_ETHERNET',
        display: 'eth0',
        networkName: '',
        macAddress: 'POgkAAAA',
      },
    ],
    activeNtpServer: 'pool.ntp.org',
    ntpServerReachable: true,
    remoteControlEnabled: true,
    bulkEnrolmentPending: false,
    orientation: 'landscape',
    totalSystemStorage: '4000000000',
    freeSystemStorage: `${500_000_000 + number}`,
    totalInternalStorage: '26000000000',
    freeInternalStorage: '12000000000',
    automaticUpdates: true,
    ntpServer: 'pool.ntp.org',
    timezone: 'Europe/Oslo',
  })

/** Adds so many endpoints, in rooms of their own, to the first organisation: what would take hours over the wire. */
export async function fillHouse(ground: Ground, count: number): Promise<House> {
  const { secrets, db } = ground
  const found = await db.kysely.selectFrom('orgs').select(['key', 'id']).orderBy('key').executeTakeFirstOrThrow()
  const org: Org = { key: found.key, id: found.id }
  const last = Object.fromEntries(
    (await db.kysely.selectFrom('counters').selectAll().where('org', '=', org.key).execute()).map((c) => [
      c.noun,
      c.last,
    ]),
  )
  const [region, location, room, endpoint] = [
    (last.region ?? 0) + 1,
    (last.location ?? 0) + 1,
    (last.room ?? 0) + 1,
    (last.endpoint ?? 0) + 1,
  ]
  const rooms = Array.from({ length: Math.ceil(count / perRoom) }, (_, i) => room + i)
  const locations = Array.from({ length: Math.ceil(rooms.length / perLocation) }, (_, i) => location + i)
  const codes = rooms.map(() => makeCode())
  const devices = Array.from({ length: count }, () => ({ id: randomUUID() as string, credential: makeCredential() }))
  const roomOf = (i: number) => room + Math.floor(i / perRoom)
  const serialOf = (i: number) => `BENCH${endpoint + i}`

  await insert(ground, 'regions', [{ org: org.key, id: region, version: 1, name: `Region ${region}` }])
  await insert(
    ground,
    'locations',
    locations.map((id) => ({ org: org.key, id, version: 1, name: `Location ${id}`, region_id: region })),
  )
  await insert(
    ground,
    'rooms',
    rooms.map((id, i) => ({
      org: org.key,
      id,
      version: 1,
      name: `Room ${id}`,
      location_id: location + Math.floor(i / perLocation),
      profile_id: null,
      dec_sealed: secrets.seal(codes[i] ?? '', sealContext(org.id, id)),
      dec_used_at: null,
      dec_timeout: defaultDecTimeout,
    })),
  )
  await insert(
    ground,
    'dec_directory',
    rooms.map((id, i) => ({ mac: codeMac(secrets, codes[i] ?? ''), org: org.key, room_id: id })),
  )
  await insert(
    ground,
    'endpoints',
    devices.map(({ id }, i) => ({
      org: org.key,
      id,
      number: endpoint + i,
      version: 1,
      serial: serialOf(i),
      pairing_serial: null,
      model: houseModel,
      room_id: roomOf(i),
      profile_id: null,
      connected: 0,
      connection_time: null,
      enrolment_time: Date.UTC(2026, 0, 1),
      status: statusOf(endpoint + i),
    })),
  )
  await insert(
    ground,
    'endpoint_rooms',
    devices.map(({ id }, i) => ({
      org: org.key,
      endpoint: endpoint + i,
      since: Date.UTC(2026, 0, 1) / 1000,
      until: null,
      room_id: roomOf(i),
      endpoint_id: id,
    })),
  )
  await insert(
    ground,
    'credential_directory',
    devices.map(({ id, credential }) => ({ hash: tokenHash(credential), org: org.key, endpoint_id: id })),
  )
  await insert(
    ground,
    'serial_directory',
    devices.map(({ id }, i) => ({ serial: serialOf(i), org: org.key, endpoint_id: id })),
  )
  const counters = {
    region,
    location: location + locations.length - 1,
    room: room + rooms.length - 1,
    endpoint: endpoint + count - 1,
  }
  await db.telemetry(async ({ kysely }) => {
    await kysely
      .insertInto('counters')
      .values(Object.entries(counters).map(([noun, last]) => ({ org: org.key, noun, last })))
      .onConflict((c) => c.columns(['org', 'noun']).doUpdateSet((e) => ({ last: e.ref('excluded.last') })))
      .execute()
  })
  return { org, rooms, devices }
}

/** A thousand rows a statement, compiled once, all of them in one commit. Every row has the same columns. */
export async function insert<T extends keyof Schema & string>(
  { db }: Ground,
  table: T,
  rows: readonly Insertable<Schema[T]>[],
): Promise<void> {
  if (rows.length === 0) return
  await db.telemetry(async ({ kysely }) => {
    // Keys are random: with little memory every page would be written many times.
    if (db.engine === 'sqlite') await sql`pragma cache_size = -400000`.execute(kysely)
    const whole = rows.length - (rows.length % batch)
    const columns = Object.keys(rows[0] ?? {}) as (keyof Insertable<Schema[T]>)[]
    const compiled = kysely.insertInto(table).values(rows.slice(0, batch)).compile()
    for (let at = 0; at < whole; at += batch) {
      const parameters = rows.slice(at, at + batch).flatMap((row) => columns.map((column) => row[column]))
      await kysely.executeQuery({ ...compiled, parameters })
    }
    if (whole < rows.length) await kysely.insertInto(table).values(rows.slice(whole)).execute()
  })
}
