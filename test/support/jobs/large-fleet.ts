// Rooms with devices that are only rows, for jobs on thousands of them. Their answers go through the rule that stores the reports of devices.
import { createHash, randomBytes } from 'node:crypto'
import type { ConfigReport, DesiredConfig } from '../../../src/contract/device/protocol.ts'
import type { DeviceConnection } from '../../../src/server/devices/mqtt/handlers.ts'
import { configReported, findPendingConfig } from '../../../src/server/fleet/configs/reported.ts'
import { deviceOfRow, type EndpointValues, putEndpoints } from '../database/endpoint-rows.ts'
import type { Harness, TestOrg } from '../harness.ts'

interface FleetSize {
  readonly rooms: number
  readonly devicesPerRoom?: number
  readonly locations?: number
  /** By default all devices are connected to the node of the harness. */
  readonly connected?: boolean
}

/** SQLite takes at most 32,766 parameters in a statement. */
const rowsPerInsert = 1000

const hashOf = (endpointId: string): Buffer => createHash('sha256').update(endpointId).digest()

export class LargeFleet {
  readonly org: TestOrg
  /** By id. */
  readonly connections = new Map<string, DeviceConnection>()
  readonly #harness: Harness

  private constructor(harness: Harness, org: TestOrg) {
    this.#harness = harness
    this.org = org
  }

  /** Rooms have the ids from 1 on, and are dealt out to the locations in turn. */
  static async make(
    harness: Harness,
    { rooms, devicesPerRoom = 1, locations = 1, connected = true }: FleetSize,
  ): Promise<LargeFleet> {
    const org = await harness.newOrg()
    const { key } = org.org
    const fleet = new LargeFleet(harness, org)
    await inBatches(
      Array.from({ length: locations }, (_, i) => ({
        ...{ org: key, id: i + 1, version: 1, name: `Site ${i + 1}`, region_id: null, timezone: 'UTC' },
        change_window: null,
      })),
      (rows) => fleet.write((db) => db.insertInto('locations').values(rows).execute()),
    )
    const room = { version: 1, profile_id: null, dec_sealed: randomBytes(8), dec_used_at: null, dec_timeout: 24 }
    await inBatches(
      Array.from({ length: rooms }, (_, i) => ({
        ...{ org: key, id: i + 1, name: `Room ${i + 1}`, location_id: (i % locations) + 1, capacity: null, ...room },
      })),
      (rows) => fleet.write((db) => db.insertInto('rooms').values(rows).execute()),
    )
    const devices = Array.from(
      { length: rooms * devicesPerRoom },
      (_, i): EndpointValues => ({ room_id: (i % rooms) + 1, connected: connected ? 1 : 0 }),
    )
    const endpoints = await putEndpoints(harness, org, devices)
    await inBatches(
      endpoints.map(({ id }) => ({ hash: hashOf(id), org: key, endpoint_id: id })),
      (rows) => fleet.write((db) => db.insertInto('credential_directory').values(rows).execute()),
    )
    const nodeId = harness.services.node?.id ?? 0
    for (const row of endpoints) {
      const device = deviceOfRow(org.org, row)
      fleet.connections.set(row.id, {
        device,
        since: 0,
        credentialHash: hashOf(row.id).toString('hex'),
        nodeId,
        number: 1,
      })
    }
    return fleet
  }

  write = (work: (db: Harness['services']['db']['system']['kysely']) => Promise<unknown>): Promise<unknown> =>
    this.#harness.services.db.systemTransaction(({ kysely }) =>
      work(kysely as Harness['services']['db']['system']['kysely']),
    )

  /** Lets every device answer the config that waits for it. Returns the ids of those that did. */
  async answerConfigs(answer: (id: string, sent: DesiredConfig) => ConfigReport): Promise<string[]> {
    const { services } = this.#harness
    const pending = await services.db.system.kysely
      .selectFrom('endpoint_configs')
      .select('endpoint_id')
      .where('org', '=', this.org.org.key)
      .where('state', '=', 'PENDING')
      .execute()
    const answered: string[] = []
    for (const { endpoint_id: id } of pending) {
      const connection = this.connections.get(id) as DeviceConnection
      const sent = await findPendingConfig(services, connection.device)
      if (!sent) continue
      await configReported(services, connection, answer(id, sent))
      answered.push(id)
    }
    return answered
  }
}

async function inBatches<T>(rows: readonly T[], insert: (batch: T[]) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsPerInsert) await insert(rows.slice(at, at + rowsPerInsert))
}
