// One simulated device: executes commands, and sends samples and call states as time passes.
import { configKeys } from '../contract/device/config-keys.ts'
import type { EnrolAnswer } from '../contract/device/protocol.ts'
import { Agent } from '../device/agent.ts'
import type { AgentHandlers, AgentSettings, AgentState, AgentStorage } from '../device/handlers.ts'
import { factoryDefaults } from './factory-settings.ts'
import type { DeviceState } from './fleet-state.ts'
import { initialStatus, statusFromSettings } from './hardware.ts'
import { logTimestamp, makeLogBundle } from './log-bundle.ts'
import type { FleetDevice } from './plan.ts'
import { displayPower, productCondition, productStatus } from './product-status.ts'
import { productOf, sensorsOfDevice } from './products.ts'
import { isInCall, makeSample, peopleIn } from './room-day.ts'
import { between, seededRandom } from './seeded-random.ts'

const calls = { zoom: 'ZOOM', msteams: 'TEAMS', avos: 'MEET' } as const
const maxJournalLines = 50
/** After a start, a display stays on for this long, whatever the time: then all devices of a fleet have connected once. */
const awakeAfterStartMs = 60_000
/** A display that is switched off is on the network for this long. */
const leavesAfterMs = 4_000

/** The settings and functions that all devices of a fleet share. */
export interface FleetContext {
  readonly sampleIntervalMs: number
  readonly callCheckIntervalMs: number
  /** The simulated time, which may run faster than the clock. */
  simulatedTime(now: number): number
  /** Shares of devices from 0 to 1. */
  readonly flap: number
  readonly rejectConfig: number
  readonly counters: FleetCounters
  /** Called when the stored state of a device has changed. */
  onStateChanged(): void
}

export interface FleetCounters {
  connected: number
  samples: number
  refused: number
  badMessages: number
  configs: number
  reboots: number
  /** Reboots that devices refused because they were in use. */
  refusedReboots: number
  messages: number
  bundles: number
  unenrolled: number
}

export class SimulatedDevice implements AgentHandlers, AgentStorage {
  readonly plan: FleetDevice
  readonly #context: FleetContext
  #state: DeviceState | undefined
  agent: Agent | undefined
  /** The time span whose samples earlier runs have sent, in Unix seconds. */
  sampledBefore: readonly [number, number] | undefined
  #isOnline = false
  #inCall = false
  #isSending = false
  #nextSampleMs = 0
  #nextCallCheckMs = 0
  /** Set while the device reboots: the time at which it is up again. */
  #rebootedAtMs: number | undefined
  #nextDropMs = Number.POSITIVE_INFINITY
  #dropCount = 0
  #journal: string[] | undefined
  /** Undefined for devices that do not report their power. */
  #power: 'ON' | 'STANDBY' | 'OFF' | undefined
  /** The power that the time of day suggests; a person can choose another until it changes. */
  #usualPower: 'ON' | 'STANDBY' = 'ON'
  #awakeUntilMs = 0
  #leavesAtMs = Number.POSITIVE_INFINITY
  #isAsleep = false
  #nextConditionMs = 0
  #reported = ''

  constructor(plan: FleetDevice, context: FleetContext) {
    this.plan = plan
    this.#context = context
    if (this.#isInShare(context.flap, 30)) this.#planDrop(Date.now())
  }

  /** Creates the agent with the identity from enrolment or from an earlier run. */
  createAgent(state: DeviceState, connect: string[]): Agent {
    this.#state = state
    this.sampledBefore = state.sampled
    const { endpointId, credential } = state
    const identity: EnrolAnswer = { endpointId, credential, connect }
    const now = Date.now()
    state.firstRunMs ??= now
    this.#awakeUntilMs = now + awakeAfterStartMs
    const product = productOf(this.plan)
    if (product?.hasPower) this.#power = 'ON'
    const status = product
      ? { ...productStatus(this.plan, product, now), ...this.#condition(now) }
      : initialStatus(this.plan, this.settings())
    const agent = new Agent({ identity, status, storage: this, handlers: this })
    const { counters } = this.#context
    agent.on('connected', () => {
      if (!this.#isOnline) counters.connected++
      this.#isOnline = true
      this.#nextSampleMs = 0
    })
    agent.on('disconnected', () => this.#markOffline())
    agent.on('unenrolled', () => {
      this.#markOffline()
      counters.unenrolled++
    })
    agent.on('credentialRefused', (since) => {
      this.#log(`the service does not know this device since ${logTimestamp(since.getTime())}`)
    })
    agent.on('samplesRefused', ({ refused }) => {
      counters.refused += refused.length
    })
    agent.on('messageRefused', ({ kind, field, reason }) => {
      counters.badMessages++
      this.#log(`message refused: ${kind} ${field} ${reason}`)
    })
    agent.on('keysIgnored', ({ kind, keys }) => this.#log(`keys ignored: ${kind} ${keys.join(' ')}`))
    this.agent = agent
    return agent
  }

  /** Does everything that is due; called several times a second. */
  tick(now: number): void {
    if (this.#rebootedAtMs !== undefined && now >= this.#rebootedAtMs) {
      this.#rebootedAtMs = undefined
      void this.agent?.start()
    }
    if (this.plan.product === 'display') this.#followDay(now)
    if (!this.#isOnline) return
    if (now >= this.#nextDropMs) {
      this.#planDrop(now)
      this.agent?.drop()
      return
    }
    if (now >= this.#nextCallCheckMs) this.#checkCall(now)
    if (this.plan.product && now >= this.#nextConditionMs) this.#reportCondition(now)
    if (now >= this.#nextSampleMs && !this.#isSending && this.#isMeasuring) void this.#sample(now)
  }

  get #isMeasuring(): boolean {
    return sensorsOfDevice(this.plan).length > 0
  }

  /** A display goes to sleep in the evening: it reports standby, and leaves the network. In the morning it is back. */
  #followDay(now: number): void {
    const usual = now < this.#awakeUntilMs ? 'ON' : displayPower(this.plan, this.#context.simulatedTime(now))
    if (usual !== this.#usualPower) {
      this.#usualPower = usual
      this.#switch(usual, now)
    }
    if (now < this.#leavesAtMs || !this.#isOnline) return
    this.#leavesAtMs = Number.POSITIVE_INFINITY
    this.#isAsleep = true
    this.#markOffline()
    void this.agent?.stop()
  }

  #switch(power: 'ON' | 'STANDBY' | 'OFF', now: number): void {
    this.#power = power
    this.agent?.reportStatus({ power, ...this.#condition(now) })
    const leaves = power !== 'ON' && productOf(this.plan)?.sleeps
    this.#leavesAtMs = leaves ? now + leavesAfterMs : Number.POSITIVE_INFINITY
    if (power === 'ON' && this.#isAsleep) {
      this.#isAsleep = false
      void this.agent?.start()
    }
  }

  #condition(now: number) {
    const ageMs = now - (this.#state?.firstRunMs ?? now)
    return productCondition(this.plan, { ageMs, at: this.#context.simulatedTime(now), power: this.#power })
  }

  #reportCondition(now: number): void {
    this.#nextConditionMs = now + this.#context.callCheckIntervalMs
    const condition = this.#condition(now)
    const text = JSON.stringify(condition)
    if (text === this.#reported) return
    this.#reported = text
    this.agent?.reportStatus(condition)
  }

  #markOffline(): void {
    if (this.#isOnline) this.#context.counters.connected--
    this.#isOnline = false
  }

  /** Records that all samples since then have been sent. */
  markBackfilled(since: number): void {
    if (this.#state) this.#state.sampled = [since, this.#state.sampled?.[1] ?? since]
  }

  async stop(): Promise<void> {
    this.#rebootedAtMs = undefined
    await this.agent?.stop()
  }

  /** Reports when a call begins or ends. Pads that show the schedule are never in a call. */
  #checkCall(now: number): void {
    this.#nextCallCheckMs = now + this.#context.callCheckIntervalMs
    const { room, controllerMode, product } = this.plan
    if (product && product !== 'codec') return
    const inCall = controllerMode !== 'schedule' && isInCall(room, this.#context.simulatedTime(now))
    if (inCall === this.#inCall) return
    this.#inCall = inCall
    this.agent?.reportStatus({ inCallStatus: inCall ? calls[room.primaryMode] : 'NONE' })
  }

  async #sample(now: number): Promise<void> {
    const { sampleIntervalMs, counters, simulatedTime } = this.#context
    this.#nextSampleMs = now + sampleIntervalMs * (0.9 + 0.2 * seededRandom(this.plan.seed, Math.floor(now / 1000), 31))
    this.#isSending = true
    try {
      const timestamp = Math.floor(now / 1000)
      await this.agent?.sample([makeSample(this.plan, simulatedTime(now), timestamp)])
      counters.samples++
      if (this.#state) this.#state.sampled = [this.#state.sampled?.[0] ?? timestamp, timestamp]
    } catch {
      // The connection was lost: the next one brings a new sample.
    } finally {
      this.#isSending = false
    }
  }

  #planDrop(now: number): void {
    this.#nextDropMs = now + 5_000 + 55_000 * seededRandom(this.plan.seed, this.#dropCount++, 32)
  }

  settings(): AgentSettings {
    return { ...factoryDefaults(this.plan), ...this.#state?.settings }
  }

  applyConfig(config: AgentSettings, version: number): Record<string, string> | undefined {
    const defaults = factoryDefaults(this.plan)
    const rejectsSome = this.#isInShare(this.#context.rejectConfig, 33)
    const settings: AgentSettings = {}
    const rejected: Record<string, string> = {}
    for (const [key, value] of Object.entries(config)) {
      if (rejectsSome && seededRandom(this.plan.seed, key.length, key.charCodeAt(0), 34) < 0.4) {
        rejected[key] = `This ${this.plan.model} cannot change ${key} with its firmware.`
      } else if (!configKeys[key]?.secret && value !== defaults[key]) settings[key] = value
    }
    if (this.#state) this.#state.settings = settings
    this.#context.counters.configs++
    this.#log(`config version ${version} applied, ${Object.keys(rejected).length} keys rejected`)
    this.agent?.reportStatus(statusFromSettings({ ...defaults, ...settings }))
    return Object.keys(rejected).length > 0 ? rejected : undefined
  }

  /** People in the room use all of its devices, as far as the device can tell. */
  isInUse(): boolean {
    const isUsed = peopleIn(this.plan.room, this.#context.simulatedTime(Date.now())) > 0
    if (isUsed) {
      this.#context.counters.refusedReboots++
      this.#log('reboot refused: in use')
    }
    return isUsed
  }

  /** Does not wait for the agent to stop, because the agent is waiting for this function. */
  reboot(): void {
    this.#log('rebooting on request')
    this.#context.counters.reboots++
    this.#markOffline()
    this.#inCall = false
    const { product } = this.plan
    this.agent?.reportStatus({
      ...(product && { startedAt: new Date().toISOString() }),
      ...((!product || product === 'codec') && { inCallStatus: 'NONE' }),
    })
    const stopped = this.agent?.stop() ?? Promise.resolve()
    void stopped.then(() => {
      this.#rebootedAtMs = Date.now() + between(2_000, 6_000, Math.random())
    })
  }

  /** Only devices that report the action `power` are asked. */
  power(on: boolean): void {
    this.#log(`switched ${on ? 'on' : 'off'} on request`)
    this.#switch(on ? 'ON' : this.plan.product === 'outlet' ? 'OFF' : 'STANDBY', Date.now())
  }

  showMessage(text: string, durationMs: number): void {
    this.#context.counters.messages++
    this.#log(`message on screen for ${durationMs / 1000} s: ${text}`)
  }

  async collectLogs({ inCallLogs }: { inCallLogs: boolean }): Promise<Buffer> {
    this.#context.counters.bundles++
    return makeLogBundle(this.plan, { now: Date.now(), inCallLogs, journal: this.#journal ?? [] })
  }

  load(): AgentState | undefined {
    return this.#state?.agent
  }

  save(state: AgentState): void {
    if (this.#state) this.#state.agent = state
    this.#context.onStateChanged()
  }

  #log(line: string): void {
    this.#journal = [...(this.#journal ?? []), `${logTimestamp(Date.now())} I ${line}`].slice(-maxJournalLines)
  }

  #isInShare(share: number, salt: number): boolean {
    return seededRandom(this.plan.seed, salt) < share
  }
}
