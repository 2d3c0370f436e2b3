// The devices of a trial: enrolled through the API, connected to random nodes, with one history for all.
import { expect } from 'vitest'
import { devicePaths } from '../../../../src/contract/device/protocol.ts'
import type { SeededChoices } from '../../endurance/random.ts'
import { send } from '../../harness.ts'
import { until } from '../../program.ts'
import type { NodeCluster } from '../node-cluster.ts'
import { TrialDevice } from './fleet-device.ts'
import { type DeviceHistory, newDeviceHistory } from './histories.ts'

const tickMs = 50
/** Samples begin so long ago that their quarters are complete, and stay within the retention. */
const firstSampleDaysAgo = 20

export interface TrialFleetOptions {
  readonly rooms: number
  readonly devicesPerRoom: number
  readonly sampleEveryMs: number
  readonly statusEveryMs: number
}

export interface TrialRoom {
  readonly id: number
  readonly name: string
  readonly version: number
  readonly endpointIds: readonly string[]
}

export class DeviceFleet {
  readonly rooms: readonly TrialRoom[]
  readonly devices: readonly TrialDevice[]
  readonly history: DeviceHistory
  readonly #timer: NodeJS.Timeout

  private constructor(rooms: readonly TrialRoom[], devices: readonly TrialDevice[], history: DeviceHistory) {
    this.rooms = rooms
    this.devices = devices
    this.history = history
    this.#timer = setInterval(() => {
      const now = performance.now()
      for (const device of devices) device.tick(now)
    }, tickMs)
  }

  /** Enrols the devices at the first node and connects them to random ones. */
  static async start(cluster: NodeCluster, choices: SeededChoices, options: TrialFleetOptions): Promise<DeviceFleet> {
    const { url } = cluster.node(0)
    const history = newDeviceHistory()
    const rooms: TrialRoom[] = []
    const devices: TrialDevice[] = []
    const firstSampleAt = Math.floor(Date.now() / 900_000) * 900 - firstSampleDaysAgo * 86_400
    for (let i = 0; i < options.rooms; i++) {
      const name = `Room ${i}`
      const room = await send(url, 'POST', `/v1/orgs/${cluster.org}/rooms`, { key: cluster.key, body: { name } })
      expect(room.status, room.text).toBe(200)
      const endpointIds: string[] = []
      for (let j = 0; j < options.devicesPerRoom; j++) {
        const body = { code: room.body.dec, serial: `TRIAL-${i}-${j}`, model: 'NF19B1' }
        const { status, text, body: answer } = await send(url, 'POST', devicePaths.enrol, { body })
        expect(status, text).toBe(200)
        endpointIds.push(answer.endpointId)
        const times = {
          sampleEveryMs: options.sampleEveryMs,
          statusEveryMs: options.statusEveryMs,
          acknowledgementTimeoutMs: 40_000,
          reconnectMs: () => 500 + choices.below(500),
        }
        const target = () => {
          const { running } = cluster
          return running.length > 0 ? choices.pick(running) : undefined
        }
        devices.push(new TrialDevice(answer, history, times, firstSampleAt, target))
      }
      const version = Number(/\d+/.exec(room.headers.get('etag') ?? '')?.[0])
      rooms.push({ id: room.body.id, name, version, endpointIds })
    }
    const fleet = new DeviceFleet(rooms, devices, history)
    for (const device of devices) device.connect()
    await fleet.untilConnected()
    return fleet
  }

  get endpointIds(): string[] {
    return this.devices.map(({ identity }) => identity.endpointId)
  }

  /** The devices that are connected to this node. */
  at(node: string): readonly TrialDevice[] {
    return this.devices.filter((device) => device.node === node)
  }

  untilConnected(timeoutMs = 60_000): Promise<unknown> {
    return until('all devices are connected', () => this.devices.every(({ isConnected }) => isConnected), { timeoutMs })
  }

  /** Ends samples and statuses, and waits until everything that was sent is acknowledged. */
  async comeToRest(timeoutMs = 60_000): Promise<void> {
    for (const device of this.devices) device.stopSampling()
    await until('everything is acknowledged', () => this.devices.every(({ isIdle }) => isIdle), { timeoutMs })
  }

  stop(): void {
    clearInterval(this.#timer)
    for (const device of this.devices) device.stop()
  }
}
