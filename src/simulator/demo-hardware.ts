// The codec and the projector of the demo: they do not speak our protocol, so a gateway manages them, with real driver sessions.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../client/client.ts'
import type { BodyOf } from '../contract/operation.ts'
import type { Operations } from '../contract/operations.ts'
import { FakeCodec } from './hardware-fakes/codec/fake-codec.ts'
import { FakeProjector } from './hardware-fakes/projector/fake-projector.ts'
import { makeSelfSigned, type SelfSigned } from './hardware-fakes/self-signed.ts'

type NewItem = BodyOf<Operations['gatewayDevicesCreate']>

/** Kept in a file, because a device keeps its certificate, its password and its port when it restarts. */
interface StoredHardware {
  readonly certificate: SelfSigned
  readonly password: string
  readonly codecPort: number
  readonly projectorPort: number
}

const studio = 'Studio'
const signIn = { username: 'roomkeeper' }
const gatewayWaitMs = 500

export class DemoHardware {
  readonly #codec: FakeCodec
  readonly #projector: FakeProjector
  readonly #stored: StoredHardware

  private constructor(codec: FakeCodec, projector: FakeProjector, stored: StoredHardware) {
    this.#codec = codec
    this.#projector = projector
    this.#stored = stored
  }

  static async start(file: string): Promise<DemoHardware> {
    const stored: Partial<StoredHardware> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
    const { password = randomBytes(9).toString('base64url') } = stored
    const certificate = stored.certificate ?? makeSelfSigned({ commonName: 'Codec', lifetimeDays: 3650 })
    const codec = new FakeCodec({ ...signIn, password, certificate, serial: 'FOC2640DEMO' })
    const projector = new FakeProjector({ password, serial: 'LX400-DEMO1' })
    await onPort(stored.codecPort, (port) => codec.listen(port))
    const projectorPort = await onPort(stored.projectorPort, (port) => projector.listen(port))
    const content: StoredHardware = { certificate, password, codecPort: codec.port, projectorPort }
    writeFileSync(file, `${JSON.stringify(content)}\n`, { mode: 0o600 })
    await projector.press(true)
    return new DemoHardware(codec, projector, content)
  }

  async stop(): Promise<void> {
    await Promise.all([this.#codec.stop(), this.#projector.close()])
  }

  /** Puts both on the list of the gateway, or corrects the list if a port has changed. */
  async addTo(client: Client, gatewayId: string, roomId: number): Promise<void> {
    const { devices } = (await client.gatewayDevicesList({ id: gatewayId })).body
    for (const item of this.#items(roomId)) {
      const known = devices.find(({ driver }) => driver === item.driver)
      if (!known) await client.gatewayDevicesCreate({ id: gatewayId, body: item })
      else if (known.port !== item.port) {
        const { driver: _, roomId: __, name: ___, ...changed } = item
        await client.gatewayDevicesUpdate({ id: gatewayId, deviceId: known.id, body: changed })
      }
    }
  }

  #items(roomId: number): NewItem[] {
    const place = { host: '127.0.0.1', roomId, secret: this.#stored.password }
    const { codecPort, projectorPort, certificate } = this.#stored
    return [
      {
        ...place,
        driver: 'roomos',
        port: codecPort,
        ...signIn,
        fingerprint: certificate.fingerprint,
        name: `Codec ${studio}`,
      },
      { ...place, driver: 'pjlink', port: projectorPort, name: `Projector ${studio}` },
    ]
  }
}

/** A port that another program has taken by now is replaced by a free one. */
async function onPort<T>(port: number | undefined, listen: (port: number) => Promise<T>): Promise<T> {
  try {
    return await listen(port ?? 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return listen(0)
  }
}

/** Returns the id of the room with the gateway and its devices. */
export async function studioRoom(client: Client): Promise<number> {
  const { rooms } = (await client.roomsList()).body
  const known = rooms.find(({ name }) => name === studio)
  if (known) return known.id
  const [location] = (await client.locationsList()).body.locations
  return (
    await client.roomsCreate({ body: { name: studio, capacity: 8, ...(location && { locationId: location.id }) } })
  ).body.id
}

/** Returns the id of the gateway once it is connected. */
export async function connectedGateway(client: Client, signal: AbortSignal): Promise<string> {
  for (;;) {
    const gateway = (await client.gatewaysList()).body.gateways.find(({ state }) => state === 'ONLINE')
    if (gateway) return gateway.id
    await pause(gatewayWaitMs, undefined, { signal })
  }
}
