// A simulated fleet: creates the rooms, enrols and connects the devices, and drives all of them with one timer.
import { once, setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { makeClient } from '../client/client.ts'
import { devicePaths } from '../contract/device/protocol.ts'
import { sendPastSamples } from './backfill.ts'
import { forEachConcurrently } from './concurrency.ts'
import { FleetEnrolment } from './enrolment.ts'
import { FleetError } from './fleet-error.ts'
import { FleetState } from './fleet-state.ts'
import { type FleetPlan, type FleetSize, planFleet } from './plan.ts'
import { retryingFetch } from './retry-fetch.ts'
import { type FleetContext, type FleetCounters, SimulatedDevice } from './simulated-device.ts'
import { buildStructure, type StructureProgress } from './structure.ts'

export interface FleetOptions extends FleetSize {
  readonly url: string
  readonly org: string
  readonly key: string
  readonly seed: number
  readonly speed: number
  readonly intervalSeconds: number
  /** Shares of devices from 0 to 1. */
  readonly flapShare: number
  readonly rejectConfig: number
  /** How much history is sent first. */
  readonly backfillMs: number
  /** The file that keeps the identities of the devices between runs. */
  readonly stateFile: string
}

/** The number of devices that enrol and connect at the same time. */
const enrolConcurrency = 50
/** The number of devices that send history at the same time, one batch each. */
const backfillConcurrency = 12
const tickIntervalMs = 200
const saveIntervalMs = 3_000
/** If no device has connected within this time, the whole fleet cannot connect. */
const firstConnectionTimeoutMs = 15_000

export class Fleet {
  readonly plan: FleetPlan
  readonly progress: StructureProgress & { enrolled: number; backfilled: number } = {
    regions: 0,
    locations: 0,
    rooms: 0,
    enrolled: 0,
    backfilled: 0,
  }
  readonly counters: FleetCounters = {
    connected: 0,
    samples: 0,
    refused: 0,
    badMessages: 0,
    configs: 0,
    reboots: 0,
    refusedReboots: 0,
    messages: 0,
    bundles: 0,
    unenrolled: 0,
  }
  readonly #options: FleetOptions
  /** Aborted by the caller's signal and by `stop`. */
  readonly #signal: AbortSignal
  readonly #end = new AbortController()
  readonly #state: FleetState
  readonly #devices: readonly SimulatedDevice[]
  readonly #timers: NodeJS.Timeout[]
  readonly #startedMs = Date.now()
  #hasConnected = false
  #lastDisconnectReason: Error | undefined

  /** Throws if the state file cannot be read. Sends nothing yet. */
  constructor(options: FleetOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = AbortSignal.any([signal, this.#end.signal])
    setMaxListeners(0, this.#signal)
    this.plan = planFleet(options, options.seed, options.org)
    this.#state = FleetState.open(options.stateFile)
    const begin = this.#startedMs
    const context: FleetContext = {
      sampleIntervalMs: options.intervalSeconds * 1000,
      callCheckIntervalMs: 2_000 / options.speed,
      flap: options.flapShare,
      rejectConfig: options.rejectConfig,
      counters: this.counters,
      simulatedTime: (now) => begin + (now - begin) * options.speed,
      onStateChanged: () => this.#state.markChanged(),
    }
    this.#devices = this.plan.devices.map((device) => new SimulatedDevice(device, context))
    this.#timers = [
      setInterval(() => {
        const now = Date.now()
        for (const device of this.#devices) device.tick(now)
      }, tickIntervalMs),
      // A failed save, for example on a full disk, is tried again at the next interval and at the end.
      setInterval(() => this.#state.save().catch(() => {}), saveIntervalMs),
    ]
  }

  async build(): Promise<void> {
    const { url, org, key } = this.#options
    const client = makeClient({ baseUrl: url, org, token: key, fetch: retryingFetch(this.#signal) })
    const roomIds = await buildStructure(client, this.plan, this.#state, this.progress, this.#signal)
    const idOf = new Map(this.plan.rooms.map((room, n) => [room, roomIds[n] as number]))
    const enrolment = new FleetEnrolment(client, url, this.#signal)
    const begin = performance.now()
    await forEachConcurrently(this.#devices, enrolConcurrency, this.#signal, async (device) => {
      const roomId = idOf.get(device.plan.room) as number
      const outcome = await this.#enrolAndConnect(device, enrolment, roomId)
      if (outcome === 'unenrolled' || outcome === 'refused') {
        // The device was unenrolled since the last run, or the service has another database: the simulator enrols it again, as a
        // person at a real device would.
        await device.agent?.stop()
        delete this.#state.content.devices[device.plan.serial]
        if (outcome === 'unenrolled') this.counters.unenrolled--
        this.progress.enrolled--
        await this.#enrolAndConnect(device, enrolment, roomId)
      }
      if (!this.#hasConnected && performance.now() - begin > firstConnectionTimeoutMs) throw this.#unreachable()
    })
  }

  /** Enrols the device if needed and waits for its first connection. After a timeout the agent keeps trying by itself. */
  async #enrolAndConnect(
    device: SimulatedDevice,
    enrolment: FleetEnrolment,
    roomId: number,
  ): Promise<'connected' | 'unenrolled' | 'refused' | 'timeout'> {
    const { content } = this.#state
    const { serial } = device.plan
    const known = content.devices[serial]
    if (!known) {
      const { connect, ...identity } = await enrolment.enrol(device.plan, roomId)
      content.connect = connect
      content.devices[serial] = identity
      this.#state.markChanged()
    }
    this.#signal.throwIfAborted()
    this.progress.enrolled++
    const agent = device.createAgent(content.devices[serial] as NonNullable<typeof known>, this.#addresses())
    agent.on('disconnected', (reason) => {
      this.#lastDisconnectReason = reason
    })
    const done = new AbortController()
    const signal = AbortSignal.any([done.signal, this.#signal])
    const outcome = Promise.race([
      once(agent, 'connected', { signal }).then(() => 'connected' as const),
      once(agent, 'unenrolled', { signal }).then(() => 'unenrolled' as const),
      once(agent, 'credentialRefused', { signal }).then(() => 'refused' as const),
      pause(firstConnectionTimeoutMs, 'timeout' as const, { signal }),
    ])
    try {
      await agent.start()
      const result = await outcome
      if (result === 'connected') this.#hasConnected = true
      return result
    } finally {
      done.abort()
    }
  }

  /** The addresses from enrolment may be out of date, so the WebSocket at the address of the API is added. */
  #addresses(): string[] {
    const { protocol, host, pathname } = new URL(this.#options.url)
    const besideApi = `${protocol === 'https:' ? 'wss' : 'ws'}://${host}${pathname.replace(/\/+$/, '')}${devicePaths.mqtt}`
    return [...new Set([...this.#state.content.connect, besideApi])]
  }

  #unreachable(): FleetError {
    const reason = this.#lastDisconnectReason?.message ?? 'no answer'
    return new FleetError(
      `No device can connect over MQTT to ${this.#addresses().join(' or ')} (${reason}). Check --mqtt-port and --public-url of the server.`,
    )
  }

  /** Sends the history that no earlier run has sent. */
  async sendBackfill(): Promise<void> {
    const { backfillMs } = this.#options
    if (backfillMs === 0) return
    const until = Math.floor(this.#startedMs / 1000)
    const wanted = until - Math.floor(backfillMs / 1000)
    await forEachConcurrently(this.#devices, backfillConcurrency, this.#signal, async (device) => {
      const [first, last] = device.sampledBefore ?? [until, until]
      for (const [from, to] of [
        [wanted, first],
        [Math.max(wanted, last), until],
      ] as const) {
        const sent = await sendPastSamples(device, { from, until: to }, this.#signal)
        this.counters.samples += sent
      }
      device.markBackfilled(wanted)
      this.progress.backfilled++
    })
  }

  /** Disconnects all devices and saves their state. */
  async stop(): Promise<void> {
    this.#end.abort()
    for (const timer of this.#timers) clearInterval(timer)
    await forEachConcurrently(this.#devices, 500, new AbortController().signal, (device) => device.stop())
    this.#state.markChanged()
    await this.#state.save()
  }
}
