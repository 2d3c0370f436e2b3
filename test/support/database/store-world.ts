// A database without a service, with two regions that hold the same, for tests that call the statements of stores directly.
import type { Insertable } from 'kysely'
import { RegionAccess } from '../../../src/server/core/region-access.ts'
import type { Database } from '../../../src/server/db/db.ts'
import { openDatabase } from '../../../src/server/db/open.ts'
import type { OrgDatabase } from '../../../src/server/db/org-database.ts'
import { type DatabaseSchema, type Rollup, sensorColumns } from '../../../src/server/db/schema/schema.ts'
import type { SystemTx } from '../../../src/server/db/system.ts'
import { insertNode } from '../../../src/server/nodes/store.ts'
import { type Harness, newPlace } from '../harness.ts'
import { putEndpoints } from './endpoint-rows.ts'

/** The time of all rows, in milliseconds. */
export const storedAt = Date.UTC(2026, 4, 1, 12)

/** The statistics of a slot in which no sensor sent a value. */
export const emptyRollup = Object.fromEntries(
  sensorColumns.flatMap((c) => [
    [`${c}_count`, 0],
    ...['min', 'max', 'sum'].map((name) => [`${c}_${name}`, null] as const),
  ]),
) as Omit<Rollup, 'org' | 'endpoint' | 'slot' | 'room'>

type Endpoint = Awaited<ReturnType<typeof putEndpoints>>[number]

export interface StoreWorld {
  readonly db: Database
  /** The key of the organisation. */
  readonly org: number
  /** A node that is up. */
  readonly node: number
  readonly all: OrgDatabase
  /** For a caller who sees the first region only. */
  readonly ofRegion: OrgDatabase
  /** For a caller who sees nothing. */
  readonly ofNothing: OrgDatabase
  /** Is in room 1, in location 1, in region 1, and connected to the node. */
  readonly here: Endpoint
  /** Is in room 2, in location 2, in region 2. */
  readonly there: Endpoint
  /** The part of a harness and of its organisation that writes rows. */
  readonly rows: readonly [Harness, { readonly org: { readonly key: number; readonly id: string } }]
  /** Room 3 has neither a location nor an endpoint. */
  put<T extends keyof DatabaseSchema>(table: T, ...values: Insertable<DatabaseSchema[T]>[]): Promise<void>
  write<R>(work: (tx: SystemTx) => Promise<R>): Promise<R>
  close(): Promise<void>
}

export async function openStores(): Promise<StoreWorld> {
  const { place, remove } = await newPlace({ hasTables: true })
  const { db } = await openDatabase(place, { isLocked: true, mustExist: true, onError() {} })
  const write: StoreWorld['write'] = (work) => db.systemTransaction(work)
  const put: StoreWorld['put'] = (table, ...values) =>
    write(async ({ kysely }) => void (await kysely.insertInto(table).values(values).execute()))
  const id = 'store-world'
  const org = await write(async ({ kysely }) => {
    const row = kysely.insertInto('orgs').values({ id, name: 'Stores', created_at: storedAt }).returning('key')
    return (await row.executeTakeFirstOrThrow()).key
  })
  await put('audit_heads', { org, count: 0, mac: Buffer.alloc(32), timestamp: storedAt })
  for (const number of [1, 2]) {
    const place = { org, id: number, version: 1, name: `Place ${number}` }
    await put('regions', place)
    await put('locations', { ...place, region_id: number, timezone: 'Europe/Oslo', change_window: null })
  }
  const room = { org, version: 1, profile_id: null, dec_used_at: null, dec_timeout: 0, capacity: 8 }
  for (const [number, location_id] of [
    [1, 1],
    [2, 2],
    [3, null],
  ] as const) {
    const dec_sealed = Buffer.from([number])
    await put('rooms', { ...room, id: number, name: `Room ${number}`, location_id, dec_sealed })
  }
  const node = await write((tx) => insertNode(tx, { name: 'node', process: 'test', version: '1.0.0', at: storedAt }))
  const nodeId = node?.id ?? 0
  const services = { db, node: { id: nodeId }, clock: { now: () => storedAt } }
  const rows = [{ services } as unknown as Harness, { org: { key: org, id } }] as const
  const [here, there] = (await putEndpoints(...rows, [
    { room_id: 1, connected: 1, connection_time: storedAt },
    { room_id: 2, connection_time: storedAt },
  ])) as [Endpoint, Endpoint]
  const all = db.forOrg(org)
  return {
    db,
    org,
    node: nodeId,
    all,
    ofRegion: all.seenBy(RegionAccess.of([1])),
    ofNothing: all.seenBy(RegionAccess.nothing),
    here,
    there,
    rows,
    put,
    write,
    async close() {
      await db.close()
      await remove()
    },
  }
}
