// The devices of the demo in its past week: enrolled in their rooms, connected, and away now and then.
import { tokenHash } from '../../server/auth/token.ts'
import type { Services } from '../../server/context/services.ts'
import type { DeviceConnection } from '../../server/devices/mqtt/handlers.ts'
import { enrolDevice } from '../../server/fleet/endpoints/enrol.ts'
import { findDeviceByCredential, markConnected, markDisconnected } from '../../server/fleet/endpoints/presence.ts'
import type { FleetPlan } from '../../simulator/plan.ts'
import type { DemoPlaces, DemoRoom } from './past-places.ts'

export interface DemoDevice {
  readonly serial: string
  readonly endpointId: string
  readonly credential: string
}

export type BrokenDevices = Readonly<Record<'board' | 'pad' | 'frame' | 'bar', string>>

interface NewDevice {
  readonly serial: string
  readonly model: string
  readonly pairingSerial?: string
}

export class PastDevices {
  readonly #services: Services
  readonly #fleet: DemoDevice[] = []
  readonly #enrolled = new Map<string, DemoDevice>()
  readonly #connections = new Map<string, DeviceConnection>()

  constructor(services: Services) {
    this.#services = services
  }

  get ofFleet(): readonly DemoDevice[] {
    return this.#fleet
  }

  async enrolFleet({ rooms, devices }: FleetPlan, places: DemoPlaces): Promise<void> {
    const roomOf = new Map(rooms.map((room, n) => [room, places.rooms[n]]))
    const enrolled = await Promise.all(devices.map((device) => this.#enrol(device, roomOf.get(device.room))))
    this.#fleet.push(...enrolled)
  }

  /** Returns the serial numbers of devices that are away in the end. */
  async enrolBroken({ rooms, basement, canteen }: DemoPlaces): Promise<BrokenDevices> {
    const [board, pad, frame, bar] = await Promise.all([
      this.#enrol({ serial: 'NHDEMO00990001', model: 'NF22H1' }, basement),
      this.#enrol({ serial: 'NADEMO00990002', model: 'NF19A1' }, rooms[0]),
      this.#enrol({ serial: 'NFDEMO00990003', model: 'NF21F1' }, canteen),
      this.#enrol({ serial: 'NBDEMO00990004', model: 'NF19B1' }, rooms[5]),
    ])
    return { board: board.serial, pad: pad.serial, frame: frame.serial, bar: bar.serial }
  }

  async #enrol({ serial, model, pairingSerial }: NewDevice, room: DemoRoom | undefined): Promise<DemoDevice> {
    const request = { code: room?.dec ?? '', serial, model, ...(pairingSerial !== undefined && { pairingSerial }) }
    const { endpointId, credential } = await enrolDevice(this.#services, request, { ip: '127.0.0.1', requestId: '' })
    const device = { serial, endpointId, credential }
    this.#enrolled.set(serial, device)
    return device
  }

  async connect(serials: readonly string[]): Promise<void> {
    await Promise.all(serials.map((serial) => this.#connect(serial)))
  }

  async #connect(serial: string): Promise<void> {
    const { endpointId, credential } = this.#enrolled.get(serial) ?? { endpointId: '', credential: '' }
    const device = await findDeviceByCredential(this.#services, endpointId, credential)
    if (!device || this.#connections.has(serial)) return
    const credentialHash = tokenHash(credential).toString('hex')
    const connection = { device, since: this.#services.clock.now(), credentialHash, nodeId: 0, number: 0 }
    Object.assign(connection, await markConnected(this.#services, connection))
    this.#connections.set(serial, connection)
  }

  async disconnect(serials: readonly string[]): Promise<void> {
    await Promise.all(
      serials.map(async (serial) => {
        const connection = this.#connections.get(serial)
        this.#connections.delete(serial)
        if (connection) await markDisconnected(this.#services, connection, 'LOST')
      }),
    )
  }
}
