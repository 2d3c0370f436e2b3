// The callers of a trial: they write, read and send commands at random nodes without a pause, and log what they see.
import { setTimeout as pause } from 'node:timers/promises'
import type { SeededChoices } from '../../endurance/random.ts'
import type { CalledNode, CallLog } from './call-log.ts'
import type { DeviceFleet, TrialRoom } from './device-fleet.ts'
import { firmwareRegister } from './fleet-device.ts'
import type { PresenceRead, RegisterRead, RegisterWrite } from './histories.ts'

/** Everything that the callers know. */
export interface WorkHistory {
  readonly writes: RegisterWrite[]
  readonly reads: RegisterRead[]
  readonly presence: PresenceRead[]
  /** Ids of commands that were answered with 200. */
  readonly commands: string[]
}

export interface WorkerPauses {
  readonly writeMs: number
  readonly readMs: number
  readonly commandMs: number
}

const nameRegister = (room: TrialRoom) => `name of room ${room.id}`
const versionIn = (etag: string | undefined) => Number(/^"(\d+)/.exec(etag ?? '')?.[1])

interface EndpointAnswer {
  readonly id: string
  readonly roomName?: string
  readonly firmwareVersion?: string
  readonly connected: boolean
}

export class Workers {
  readonly history: WorkHistory = { writes: [], reads: [], presence: [], commands: [] }
  readonly #calls: CallLog
  readonly #fleet: DeviceFleet
  readonly #choices: SeededChoices
  readonly #nodes: () => readonly CalledNode[]
  readonly #roomOf = new Map<string, TrialRoom>()
  #names = 0
  #isWorking = true
  #working: Promise<unknown> = Promise.resolve()

  constructor(calls: CallLog, fleet: DeviceFleet, choices: SeededChoices, nodes: () => readonly CalledNode[]) {
    this.#calls = calls
    this.#fleet = fleet
    this.#choices = choices
    this.#nodes = nodes
    for (const room of fleet.rooms) {
      for (const id of room.endpointIds) this.#roomOf.set(id, room)
      const { name, version } = room
      const write = { register: nameRegister(room), value: name, version, outcome: 'done' } as const
      this.history.writes.push({ ...write, invokedAt: 0, endedAt: performance.now() })
    }
  }

  start({ writeMs, readMs, commandMs }: WorkerPauses): void {
    const jobs: [number, () => Promise<void>][] = [
      [writeMs, () => this.#renameRoom()],
      [writeMs, () => this.#renameRoom()],
      [writeMs, () => this.#createRegion()],
      [readMs, () => this.#readRoom()],
      [readMs, () => this.#readEndpoint()],
      [readMs, () => this.#readEndpoint()],
      [readMs, () => this.readEndpoints(this.#node())],
      [commandMs, () => this.#sendMessage()],
      [commandMs, () => this.#reboot()],
    ]
    this.#working = Promise.all(
      jobs.map(async ([pauseMs, work]) => {
        while (this.#isWorking) {
          await work()
          await pause(pauseMs)
        }
      }),
    )
  }

  async stop(): Promise<void> {
    this.#isWorking = false
    await this.#working
  }

  #node(): CalledNode {
    return this.#choices.pick(this.#nodes())
  }

  async #renameRoom(): Promise<void> {
    const room = this.#choices.pick(this.#fleet.rooms)
    const value = `name-${++this.#names}`
    const { record, etag } = await this.#calls.call(this.#node(), 'PUT', `/rooms/${room.id}`, { name: value })
    const { invokedAt, endedAt, outcome } = record
    const version = outcome === 'done' ? versionIn(etag) : undefined
    this.history.writes.push({ register: nameRegister(room), value, version, invokedAt, endedAt, outcome })
  }

  async #createRegion(): Promise<void> {
    await this.#calls.call(this.#node(), 'POST', '/regions', { name: `region-${++this.#names}` })
  }

  async #readRoom(): Promise<void> {
    const room = this.#choices.pick(this.#fleet.rooms)
    const { record, etag, body } = await this.#calls.call(this.#node(), 'GET', `/rooms/${room.id}`)
    if (record.outcome !== 'done') return
    const { node, invokedAt, endedAt } = record
    const register = nameRegister(room)
    this.history.reads.push({ register, value: body.name, version: versionIn(etag), node, invokedAt, endedAt })
  }

  async #readEndpoint(): Promise<void> {
    const id = this.#choices.pick(this.#fleet.endpointIds)
    const { record, body } = await this.#calls.call(this.#node(), 'GET', `/endpoints/${id}`)
    if (record.outcome === 'done') this.#log(body, record)
  }

  async readEndpoints(node: CalledNode): Promise<void> {
    const { record, body } = await this.#calls.call(node, 'GET', '/endpoints')
    if (record.outcome === 'done') for (const endpoint of body.endpoints) this.#log(endpoint, record)
  }

  #log(endpoint: EndpointAnswer, at: { node: string; invokedAt: number; endedAt: number }): void {
    const { id, roomName, firmwareVersion, connected } = endpoint
    const { node, invokedAt, endedAt } = at
    const when = { node, invokedAt, endedAt }
    const room = this.#roomOf.get(id)
    this.history.presence.push({ endpointId: id, isConnected: connected, ...when })
    if (room && roomName !== undefined) {
      this.history.reads.push({ register: nameRegister(room), value: roomName, version: undefined, ...when })
    }
    if (firmwareVersion) {
      this.history.reads.push({ register: firmwareRegister(id), value: firmwareVersion, version: undefined, ...when })
    }
  }

  async #sendMessage(): Promise<void> {
    const endpointIds = [this.#choices.pick(this.#fleet.endpointIds)]
    await this.#command('/endpoints/send_message', { message: 'Hello.', endpointIds })
  }

  async #reboot(): Promise<void> {
    await this.#command(`/endpoints/${this.#choices.pick(this.#fleet.endpointIds)}/reboot`)
  }

  async #command(path: string, body?: object): Promise<void> {
    const reply = await this.#calls.call(this.#node(), 'POST', path, body)
    if (reply.record.outcome !== 'done') return
    for (const { id, state } of reply.body.operations) if (state !== 'SKIPPED') this.history.commands.push(id)
  }
}
