// A device without a network connection: its reports and commands go through the handlers that the MQTT side calls for a real one.
import { randomBytes } from 'node:crypto'
import type { DeviceCommandMessage } from '../../../src/contract/device/protocol.ts'
import { secondMs } from '../../../src/contract/durations.ts'
import type { Services } from '../../../src/server/context/services.ts'
import type { Device, DeviceConnection } from '../../../src/server/devices/mqtt/handlers.ts'
import { storeCommandReport, takePendingCommands } from '../../../src/server/fleet/commands/progress.ts'
import { markConnected, markDisconnected, storeStatus } from '../../../src/server/fleet/endpoints/presence.ts'
import type { SampleIntake } from '../../../src/server/sensors/ingest/intake.ts'
import { deviceOfRow, type EndpointValues, putEndpoints } from '../database/endpoint-rows.ts'
import type { TestOrg } from '../harness.ts'

export class RowDevice {
  readonly device: Device
  readonly hash: Buffer
  connection: DeviceConnection | undefined
  /** The call that the service was told of last; undefined if it was told nothing. */
  toldCall: boolean | undefined
  readonly #services: Services
  readonly #intake: SampleIntake

  constructor(services: Services, intake: SampleIntake, device: Device, hash: Buffer) {
    this.#services = services
    this.#intake = intake
    this.device = device
    this.hash = hash
  }

  get hasReported(): boolean {
    return this.connection?.hasReportedStatus === true
  }

  async connect(): Promise<void> {
    const since = this.#services.clock.now()
    const connection = { device: this.device, since, credentialHash: this.hash.toString('hex'), nodeId: 0, number: 0 }
    const presence = await markConnected(this.#services, connection)
    if (!presence) throw new Error('the credential of the device is not valid')
    this.connection = Object.assign(connection, { nodeId: presence.nodeId, number: presence.number })
  }

  async disconnect(): Promise<void> {
    const connection = this.#connected()
    this.connection = undefined
    await markDisconnected(this.#services, connection, 'LOST')
  }

  async reportStatus(isInCall: boolean): Promise<void> {
    const connection = this.#connected()
    await storeStatus(this.#services, connection, { inCallStatus: isInCall ? 'ZOOM' : 'NONE' })
    connection.hasReportedStatus = true
    this.toldCall = isInCall
  }

  async reportPeople(people: number): Promise<void> {
    const timestamp = this.#services.clock.now() / secondMs
    const refused = await this.#intake.receive(this.#connected(), { samples: [{ timestamp, people }] })
    if (refused) throw new Error(`a sample was refused: ${JSON.stringify(refused)}`)
  }

  takeCommands(): Promise<DeviceCommandMessage[]> {
    return takePendingCommands(this.#services, this.#connected(), () => '')
  }

  reportCommand(id: string, state: 'ACKNOWLEDGED' | 'SUCCEEDED' | 'FAILED', error?: string): Promise<void> {
    return storeCommandReport(this.#services, this.#connected(), { id, state, ...(error && { error }) })
  }

  #connected(): DeviceConnection {
    if (!this.connection) throw new Error('the device is not connected')
    return this.connection
  }
}

/** Inserts enrolled endpoints with credentials. */
export async function newRowDevices(
  services: Services,
  org: Pick<TestOrg, 'org'>,
  intake: SampleIntake,
  values: readonly EndpointValues[],
): Promise<RowDevice[]> {
  const rows = await putEndpoints({ services }, org, values)
  const credentials = rows.map(({ id }) => ({ hash: randomBytes(32), org: org.org.key, endpoint_id: id }))
  await services.db.systemTransaction(async ({ kysely }) => {
    for (let at = 0; at < credentials.length; at += 1000) {
      await kysely
        .insertInto('credential_directory')
        .values(credentials.slice(at, at + 1000))
        .execute()
    }
  })
  return rows.map(
    (row, i) => new RowDevice(services, intake, deviceOfRow(org.org, row), credentials[i]?.hash ?? Buffer.alloc(0)),
  )
}
