// One simulated device: what it does when the service asks, and what it does by itself as time passes.
import { configKeys } from '../contract/config-keys.ts'
import type { EnrolAnswer } from '../contract/device.ts'
import { Agent } from '../device/agent.ts'
import type { AgentState, AgentStorage, DeviceHandlers, DeviceSettings } from '../device/handlers.ts'
import { between, chance } from './chance.ts'
import { isInCall, sampleOf } from './day.ts'
import { defaultsOf, followingSettings, statusOf } from './hardware.ts'
import { bundleOf, stamp } from './logs.ts'
import type { PlannedDevice } from './plan.ts'
import type { DeviceState } from './state.ts'

const calls = { zoom: 'ZOOM', msteams: 'TEAMS', avos: 'MEET' } as const
const journalLength = 50

/** What all devices of a fleet share. */
export interface World {
  readonly interval: number
  /** How often a device looks whether it is in a call. */
  readonly lookEvery: number
  /** The time of day that the curves follow; it may run faster than the clock. */
  curve(now: number): number
  /** Shares of devices, 0 to 1. */
  readonly flap: number
  readonly rejectConfig: number
  readonly tally: Tally
  /** Something that a device remembers has changed. */
  remembered(): void
}

export interface Tally {
  connected: number
  samples: number
  refused: number
  configs: number
  reboots: number
  messages: number
  bundles: number
  unenrolled: number
}

export class SimulatedDevice implements DeviceHandlers, AgentStorage {
  readonly plan: PlannedDevice
  readonly #world: World
  #state: DeviceState | undefined
  agent: Agent | undefined
  /** From when to when earlier runs have sent its samples, Unix seconds. */
  sampledBefore: readonly [number, number] | undefined
  #isOnline = false
  #inCall = false
  #isSending = false
  #nextSample = 0
  #nextLook = 0
  /** While it reboots: when it is up again. */
  #upAt: number | undefined
  #dropsAt = Number.POSITIVE_INFINITY
  #drops = 0
  #journal: string[] | undefined

  constructor(plan: PlannedDevice, world: World) {
    this.plan = plan
    this.#world = world
    if (this.#isOneOf(world.flap, 30)) this.#planDrop(Date.now())
  }

  /** Becomes the endpoint that enrolment or an earlier run made of it. */
  become(state: DeviceState, connect: string[]): Agent {
    this.#state = state
    this.sampledBefore = state.sampled
    const { endpointId, credential } = state
    const identity: EnrolAnswer = { endpointId, credential, connect }
    const status = statusOf(this.plan, this.settings())
    const agent = new Agent({ identity, status, storage: this, handlers: this })
    const { tally } = this.#world
    const away = () => {
      if (this.#isOnline) tally.connected--
      this.#isOnline = false
    }
    agent.on('connected', () => {
      if (!this.#isOnline) tally.connected++
      this.#isOnline = true
      this.#nextSample = 0
    })
    agent.on('disconnected', away)
    agent.on('unenrolled', () => {
      away()
      tally.unenrolled++
    })
    agent.on('samplesRefused', ({ refused }) => {
      tally.refused += refused.length
    })
    this.agent = agent
    return agent
  }

  /** Called often; does what is due. */
  tick(now: number): void {
    if (this.#upAt !== undefined && now >= this.#upAt) {
      this.#upAt = undefined
      void this.agent?.start()
    }
    if (!this.#isOnline) return
    if (now >= this.#dropsAt) {
      this.#planDrop(now)
      this.agent?.drop()
      return
    }
    if (now >= this.#nextLook) this.#look(now)
    if (now >= this.#nextSample && !this.#isSending) void this.#sample(now)
  }

  /** Its samples since then are all sent. */
  covers(since: number): void {
    if (this.#state) this.#state.sampled = [since, this.#state.sampled?.[1] ?? since]
  }

  async stop(): Promise<void> {
    this.#upAt = undefined
    await this.agent?.stop()
  }

  /** Only pads at the door never take part in a call. */
  #look(now: number): void {
    this.#nextLook = now + this.#world.lookEvery
    const { room, controllerMode } = this.plan
    const inCall = controllerMode !== 'schedule' && isInCall(room, this.#world.curve(now))
    if (inCall === this.#inCall) return
    this.#inCall = inCall
    this.agent?.reportStatus({ inCallStatus: inCall ? calls[room.primaryMode] : 'NONE' })
  }

  async #sample(now: number): Promise<void> {
    const { interval, tally, curve } = this.#world
    this.#nextSample = now + interval * (0.9 + 0.2 * chance(this.plan.seed, Math.floor(now / 1000), 31))
    this.#isSending = true
    try {
      const timestamp = Math.floor(now / 1000)
      await this.agent?.sample([sampleOf(this.plan, curve(now), timestamp)])
      tally.samples++
      if (this.#state) this.#state.sampled = [this.#state.sampled?.[0] ?? timestamp, timestamp]
    } catch {
      // The wire was cut: the next connection brings a new one.
    } finally {
      this.#isSending = false
    }
  }

  #planDrop(now: number): void {
    this.#dropsAt = now + 5_000 + 55_000 * chance(this.plan.seed, this.#drops++, 32)
  }

  settings(): DeviceSettings {
    return { ...defaultsOf(this.plan), ...this.#state?.settings }
  }

  applyConfig(config: DeviceSettings, version: number): Record<string, string> | undefined {
    const defaults = defaultsOf(this.plan)
    const isPicky = this.#isOneOf(this.#world.rejectConfig, 33)
    const settings: DeviceSettings = {}
    const rejected: Record<string, string> = {}
    for (const [key, value] of Object.entries(config)) {
      if (isPicky && chance(this.plan.seed, key.length, key.charCodeAt(0), 34) < 0.4) {
        rejected[key] = `This ${this.plan.model} cannot change ${key} with its firmware.`
      } else if (!configKeys[key]?.secret && value !== defaults[key]) settings[key] = value
    }
    if (this.#state) this.#state.settings = settings
    this.#world.tally.configs++
    this.#write(`config version ${version} applied, ${Object.keys(rejected).length} keys rejected`)
    this.agent?.reportStatus(followingSettings({ ...defaults, ...settings }))
    return Object.keys(rejected).length > 0 ? rejected : undefined
  }

  /** Not awaited: the agent that asks is the one that stops. */
  reboot(): void {
    this.#write('rebooting on request')
    this.#world.tally.reboots++
    if (this.#isOnline) this.#world.tally.connected--
    this.#isOnline = false
    this.#inCall = false
    this.agent?.reportStatus({ inCallStatus: 'NONE' })
    const gone = this.agent?.stop() ?? Promise.resolve()
    void gone.then(() => {
      this.#upAt = Date.now() + between(2_000, 6_000, Math.random())
    })
  }

  showMessage(text: string): void {
    this.#world.tally.messages++
    this.#write(`message on screen: ${text}`)
  }

  async collectLogs({ inCallLogs }: { inCallLogs: boolean }): Promise<Buffer> {
    this.#world.tally.bundles++
    return bundleOf(this.plan, { now: Date.now(), inCallLogs, journal: this.#journal ?? [] })
  }

  load(): AgentState | undefined {
    return this.#state?.kept
  }

  save(kept: AgentState): void {
    if (this.#state) this.#state.kept = kept
    this.#world.remembered()
  }

  #write(line: string): void {
    this.#journal = [...(this.#journal ?? []), `${stamp(Date.now())} I ${line}`].slice(-journalLength)
  }

  #isOneOf(share: number, what: number): boolean {
    return chance(this.plan.seed, what) < share
  }
}
