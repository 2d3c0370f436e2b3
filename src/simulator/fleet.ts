// A fleet: builds the rooms, enrols and connects the devices, and keeps them alive with one clock for all.
import { once, setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { makeClient } from '../client/client.ts'
import { devicePaths } from '../contract/device.ts'
import { SimulatedDevice, type Tally, type World } from './device.ts'
import { Enrolment } from './enrolment.ts'
import { FleetError } from './failure.ts'
import { sendHistory } from './history.ts'
import { inParallel } from './parallel.ts'
import { patientFetch } from './patience.ts'
import { type Plan, planFleet, type Size } from './plan.ts'
import { State } from './state.ts'
import { type Built, buildStructure } from './structure.ts'

export interface FleetOptions extends Size {
  readonly url: string
  readonly org: string
  readonly key: string
  readonly seed: number
  readonly speed: number
  /** Seconds between two samples of a device. */
  readonly interval: number
  /** Shares of devices, 0 to 1. */
  readonly flap: number
  readonly rejectConfig: number
  /** How much past is sent first, in milliseconds. */
  readonly backfill: number
  /** The file that remembers who the devices are. */
  readonly state: string
}

/** How many devices enrol and connect at the same time. */
const hands = 50
/** How many send their past at the same time: one batch of each is under way. */
const historians = 12
const tickEvery = 200
const saveEvery = 3_000
/** After this long without any connection, something is wrong for all. */
const patience = 15_000

export class Fleet {
  readonly plan: Plan
  readonly built: Built & { enrolled: number; recalled: number } = {
    regions: 0,
    locations: 0,
    rooms: 0,
    enrolled: 0,
    recalled: 0,
  }
  readonly tally: Tally = {
    connected: 0,
    samples: 0,
    refused: 0,
    configs: 0,
    reboots: 0,
    messages: 0,
    bundles: 0,
    unenrolled: 0,
  }
  readonly #options: FleetOptions
  /** Ends with whoever started it, and with `stop`. */
  readonly #signal: AbortSignal
  readonly #end = new AbortController()
  readonly #state: State
  readonly #devices: readonly SimulatedDevice[]
  readonly #clocks: NodeJS.Timeout[]
  readonly #begin = Date.now()
  #hasConnected = false
  #lastReason: Error | undefined

  /** Throws if the state file cannot be read; nothing is sent yet. */
  constructor(options: FleetOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = AbortSignal.any([signal, this.#end.signal])
    setMaxListeners(0, this.#signal)
    this.plan = planFleet(options, options.seed, options.org)
    this.#state = State.open(options.state)
    const begin = this.#begin
    const world: World = {
      interval: options.interval * 1000,
      lookEvery: 2_000 / options.speed,
      flap: options.flap,
      rejectConfig: options.rejectConfig,
      tally: this.tally,
      curve: (now) => begin + (now - begin) * options.speed,
      remembered: () => this.#state.changed(),
    }
    this.#devices = this.plan.devices.map((device) => new SimulatedDevice(device, world))
    this.#clocks = [
      setInterval(() => {
        const now = Date.now()
        for (const device of this.#devices) device.tick(now)
      }, tickEvery),
      // The disk may be full for a while; the next time, and the end, try again.
      setInterval(() => this.#state.save().catch(() => {}), saveEvery),
    ]
  }

  async build(): Promise<void> {
    const { url, org, key } = this.#options
    const client = makeClient({ baseUrl: url, org, token: key, fetch: patientFetch(this.#signal) })
    const roomIds = await buildStructure(client, this.plan, this.#state, this.built, this.#signal)
    const idOf = new Map(this.plan.rooms.map((room, n) => [room, roomIds[n] as number]))
    const enrolment = new Enrolment(client, url, this.#signal)
    const begin = performance.now()
    await inParallel(this.#devices, hands, this.#signal, async (device) => {
      const roomId = idOf.get(device.plan.room) as number
      if ((await this.#join(device, enrolment, roomId)) === 'unenrolled') {
        // Somebody removed it since the last run.
        delete this.#state.content.devices[device.plan.serial]
        this.tally.unenrolled--
        this.built.enrolled--
        await this.#join(device, enrolment, roomId)
      }
      if (!this.#hasConnected && performance.now() - begin > patience) throw this.#unreachable()
    })
  }

  /** Enrols it unless it is enrolled, and waits for its first connection, but not for ever: it keeps trying by itself. */
  async #join(
    device: SimulatedDevice,
    enrolment: Enrolment,
    roomId: number,
  ): Promise<'connected' | 'unenrolled' | 'late'> {
    const { content } = this.#state
    const { serial } = device.plan
    const known = content.devices[serial]
    if (!known) {
      const { connect, ...identity } = await enrolment.enrol(device.plan, roomId)
      content.connect = connect
      content.devices[serial] = identity
      this.#state.changed()
    }
    this.#signal.throwIfAborted()
    this.built.enrolled++
    const agent = device.become(content.devices[serial] as NonNullable<typeof known>, this.#addresses())
    agent.on('disconnected', (reason) => {
      this.#lastReason = reason
    })
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, this.#signal])
    const outcome = Promise.race([
      once(agent, 'connected', { signal }).then(() => 'connected' as const),
      once(agent, 'unenrolled', { signal }).then(() => 'unenrolled' as const),
      pause(patience, 'late' as const, { signal }),
    ])
    try {
      await agent.start()
      const result = await outcome
      if (result === 'connected') this.#hasConnected = true
      return result
    } finally {
      over.abort()
    }
  }

  /** Those that enrolment named may have moved since; the WebSocket is where the API is. */
  #addresses(): string[] {
    const { protocol, host } = new URL(this.#options.url)
    const besideApi = `${protocol === 'https:' ? 'wss' : 'ws'}://${host}${devicePaths.mqtt}`
    return [...new Set([...this.#state.content.connect, besideApi])]
  }

  #unreachable(): FleetError {
    const reason = this.#lastReason?.message ?? 'no answer'
    return new FleetError(
      `No device can connect over MQTT at ${this.#addresses().join(' or ')} (${reason}). Check --mqtt-port and --public-url of the server.`,
    )
  }

  /** Sends the past that no earlier run has sent. */
  async recall(): Promise<void> {
    const { backfill } = this.#options
    if (backfill === 0) return
    const until = Math.floor(this.#begin / 1000)
    const wanted = until - Math.floor(backfill / 1000)
    await inParallel(this.#devices, historians, this.#signal, async (device) => {
      const [first, last] = device.sampledBefore ?? [until, until]
      for (const [from, to] of [
        [wanted, first],
        [Math.max(wanted, last), until],
      ] as const) {
        const sent = await sendHistory(device, { from, until: to }, this.#signal)
        this.tally.samples += sent
      }
      device.covers(wanted)
      this.built.recalled++
    })
  }

  /** Everybody says goodbye, and what they know is kept. */
  async stop(): Promise<void> {
    this.#end.abort()
    for (const clock of this.#clocks) clearInterval(clock)
    await inParallel(this.#devices, 500, new AbortController().signal, (device) => device.stop())
    this.#state.changed()
    await this.#state.save()
  }
}
