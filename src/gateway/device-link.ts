// Joins a driver session with the agent of its device: reports go up to the server, and commands come down to the driver.
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { DeviceAction } from '../contract/device/models.ts'
import type { DeviceSample, EnrolAnswer, UpMessage } from '../contract/device/protocol.ts'
import { minuteMs, secondMs } from '../contract/durations.ts'
import { Agent, type AgentOptions } from '../device/agent.ts'
import type { AgentHandlers, AgentStorage, StartedCommand } from '../device/handlers.ts'
import type { ConnectionTimes } from '../device/reconnect.ts'
import { DriverFailure, type DriverSession } from './driver.ts'
import { limited } from './limited.ts'

const statusIntervalMs = secondMs
const sampleIntervalMs = minuteMs
/** At the end of a session the agent stays connected for at most this long, until the last status is stored. */
const lastReportMs = 2 * secondMs
/** `startedAt` is computed from an uptime, and differs a little each time. */
const sameStartMs = 20 * secondMs
/** An uptime counts whole seconds. */
const uptimePrecisionMs = 2 * secondMs
/** A device that the gateway has watched for this long after a restart command, and that reports no later start, has not restarted. */
export const defaultRestartWithinMs = 2 * minuteMs
const checkStartedMs = 5 * secondMs
const commandLimitMs = 30 * secondMs
/** A status that is larger is a mistake of the driver: it is not sent. */
const maxStatusBytes = 64 * 1024
/** Four hours of samples, which wait while the gateway is not connected. */
const maxWaitingSamples = 240

type Status = UpMessage<'status'>

export interface DeviceLinkOptions {
  readonly session: DriverSession
  readonly identity: EnrolAnswer
  readonly storage: AgentStorage
  /** Samples that wait for a connection; they outlive the session. */
  readonly waitingSamples: DeviceSample[]
  readonly restartWithinMs: number
  readonly connection: ConnectionTimes
  readonly log: (line: string) => void
  readonly onUnenrolled: () => void
  readonly onCredentialRefused: () => void
}

export class DeviceLink {
  readonly #options: DeviceLinkOptions
  /** The status as the server has it, or gets it with the next connection. */
  #status: Status
  #changes: Status = {}
  #statusTimer: NodeJS.Timeout | undefined
  #statusSentAtMs = 0
  /** Resolves when the server has stored the status that was sent last. */
  #lastReport: Promise<void> | undefined
  #sample: DeviceSample | undefined
  #sampleTimer: NodeJS.Timeout | undefined
  #sampleSentAtMs = Number.NEGATIVE_INFINITY
  #agent: Agent | undefined
  #checkTimer: NodeJS.Timeout | undefined
  /** How many times the outcomes of commands were checked in this session. */
  #checkCount = 0
  /** By command: how many checks there had been when a check first found it open. */
  readonly #checksBefore = new Map<string, number>()
  /** With `commandsOnce`: when the last reboot was carried out. */
  #rebootedAtMs = Number.NEGATIVE_INFINITY
  #isWanted = false
  /** Starts and stops of the agent run one after the other. */
  #switching: Promise<void> = Promise.resolve()

  constructor(options: DeviceLinkOptions) {
    this.#options = options
    const { session } = options
    this.#status = statusOf(session)
    session.on('status', (changes) => this.#guard(() => this.#collect(changes)))
    session.on('settings', () => this.#guard(() => this.#agent?.reportConfig()))
    session.on('sample', (sample) => this.#guard(() => this.#collectSample(sample)))
  }

  /** Connects the agent, or disconnects it. The session is not touched. */
  connect(isWanted: boolean): Promise<void> {
    this.#isWanted = isWanted
    return this.#switch(() => (this.#isWanted ? this.#start() : this.#stop()))
  }

  #switch(work: () => Promise<void>): Promise<void> {
    this.#switching = this.#switching
      .then(work)
      .catch((error: Error) => this.#options.log(`agent not started or stopped: ${error.message}`))
    return this.#switching
  }

  /** Sends the last status first: a device can say that it goes to standby, and leave the network at the same moment. */
  async close(): Promise<void> {
    clearTimeout(this.#sampleTimer)
    if (this.#statusTimer) {
      clearTimeout(this.#statusTimer)
      this.#guard(() => this.#sendStatus())
    }
    await Promise.race([this.#lastReport, pause(lastReportMs, undefined, { ref: false })])
    await this.connect(false)
  }

  async #start(): Promise<void> {
    if (this.#agent) return
    const { identity, storage, connection, log, onUnenrolled, onCredentialRefused } = this.#options
    const agent = new Agent({
      identity,
      status: { ...this.#status },
      storage,
      handlers: this.#handlers(),
      commandsOnce: this.#options.session.commandsOnce,
      outcomeOf: (command) => this.#outcomeOf(command),
      maxQueuedSamples: maxWaitingSamples,
      connection,
    })
    agent.on('unenrolled', onUnenrolled)
    agent.on('credentialRefused', onCredentialRefused)
    agent.on('messageRefused', ({ kind, field, reason }) => log(`the server refused ${kind} ${field}: ${reason}`))
    agent.on('warning', (error) => log(`warning: ${error instanceof Error ? error.message : String(error)}`))
    this.#agent = agent
    await agent.start()
    this.#checkTimer = setInterval(() => this.#checkStarted(agent), checkStartedMs)
    this.#sendSamples()
  }

  async #stop(): Promise<void> {
    const agent = this.#agent
    this.#agent = undefined
    clearInterval(this.#checkTimer)
    await agent?.stop()
  }

  /**
   * How long this session has stood since the command. It counts checks and not the clock: time in which the gateway did not run, or had no
   * session, shows nothing. A device that restarts ends its session, or reports a later start.
   */
  #observedMs({ id }: StartedCommand): number {
    const checksBefore = this.#checksBefore.get(id) ?? this.#checkCount
    this.#checksBefore.set(id, checksBefore)
    return (this.#checkCount - checksBefore) * checkStartedMs
  }

  #outcomeOf(command: StartedCommand): ReturnType<NonNullable<AgentOptions['outcomeOf']>> {
    const { session, restartWithinMs } = this.#options
    const { type, atMs } = command
    if (session.commandsOnce && type === 'REBOOT' && atMs <= this.#rebootedAtMs) return { state: 'SUCCEEDED' }
    const isShown = type === 'REBOOT' && typeof this.#status.startedAt === 'string'
    if (!session.commandsOnce || isShown)
      return startedOutcome(command, this.#status, this.#observedMs(command) >= restartWithinMs)
    return { state: 'FAILED', error: notKnownText }
  }

  #checkStarted(agent: Agent): void {
    this.#checkCount++
    agent.decideStarted().catch((error: Error) => this.#options.log(`state not saved: ${error.message}`))
  }

  #handlers(): AgentHandlers {
    const { session } = this.#options
    const { apply, reboot, power, message, logs, isInUse, commandsOnce = false } = session
    const within = commandsOnce ? withinOnce : withinLimit
    return {
      settings: () => session.settings?.() ?? {},
      applyConfig: async (config) => {
        if (!apply) throw new Error('This device has no settings that the gateway can change.')
        return commandsOnce ? apply.call(session, config) : within(apply.call(session, config))
      },
      reboot: async (options) => {
        if (!reboot) throw new Error('The gateway cannot restart this device.')
        if (commandsOnce) await this.#rebootOnce(() => reboot.call(session, options))
        else await this.#handOver(() => reboot.call(session, options))
      },
      showMessage: async (text, durationMs) => {
        if (!message) throw new Error('This device cannot show a message.')
        await within(message.call(session, text, durationMs))
      },
      collectLogs: async (options) => {
        if (!logs) throw new Error('The gateway cannot read the logs of this device.')
        const collected = await within(logs.call(session, options))
        return typeof collected === 'string' ? gzipSync(collected) : collected
      },
      // Warming up and cooling down take minutes, and the driver gives up by itself before the deadline of the command.
      ...(power && { power: (on) => power.call(session, on) }),
      ...(isInUse && { isInUse: () => within(isInUse.call(session)) }),
    }
  }

  /** The server counts a reboot as done on a new connection only. */
  async #rebootOnce(reboot: () => Promise<void>): Promise<void> {
    await withinOnce(reboot())
    this.#rebootedAtMs = Date.now()
    this.#reconnect()
  }

  /** A device can restart before it has answered. Then its uptime tells later whether it did. */
  async #handOver(reboot: () => Promise<void>): Promise<void> {
    try {
      await withinLimit(reboot())
    } catch (error) {
      const isUnanswered =
        error instanceof NoAnswer || (error instanceof DriverFailure && error.state === 'UNREACHABLE')
      if (!isUnanswered) throw error
    }
  }

  #collect(changes: Status): void {
    const changed = Object.entries(changes).filter(([name, value]) => !isSameValue(name, this.#status[name], value))
    const isRestart = changed.some(([name, value]) => name === 'startedAt' && isLater(value, this.#status.startedAt))
    Object.assign(this.#status, Object.fromEntries(changed))
    Object.assign(this.#changes, Object.fromEntries(changed))
    if (isRestart) this.#reconnect()
    if (changed.length === 0 || this.#statusTimer) return
    const waitMs = Math.max(0, this.#statusSentAtMs + statusIntervalMs - performance.now())
    this.#statusTimer = setTimeout(() => this.#guard(() => this.#sendStatus()), waitMs)
  }

  /** A session that polls survives a restart of its device, but the server counts a restart only on a new connection. */
  #reconnect(): void {
    if (!this.#agent) return
    void this.#switch(() => this.#stop())
    void this.#switch(async () => {
      if (this.#isWanted) await this.#start()
    })
  }

  #sendStatus(): void {
    this.#statusTimer = undefined
    this.#statusSentAtMs = performance.now()
    const changes = this.#changes
    this.#changes = {}
    const isSendable = Buffer.byteLength(JSON.stringify(changes)) <= maxStatusBytes
    if (isSendable) this.#lastReport = this.#agent?.reportStatus(changes)
    else this.#options.log('the status of this device is too large and was not sent')
  }

  #collectSample(sample: DeviceSample): void {
    if (this.#options.session.samplesAsMeasured) {
      this.#options.waitingSamples.push(sample)
      this.#sampleTimer ??= setTimeout(() => this.#guard(() => this.#takeSample()), statusIntervalMs)
      return
    }
    this.#sample = { ...this.#sample, ...sample }
    if (this.#sampleTimer) return
    const waitMs = Math.max(0, this.#sampleSentAtMs + sampleIntervalMs - performance.now())
    this.#sampleTimer = setTimeout(() => this.#guard(() => this.#takeSample()), waitMs)
  }

  #takeSample(): void {
    this.#sampleTimer = undefined
    this.#sampleSentAtMs = performance.now()
    const { waitingSamples } = this.#options
    if (this.#sample) waitingSamples.push(this.#sample)
    this.#sample = undefined
    waitingSamples.splice(0, waitingSamples.length - maxWaitingSamples)
    this.#sendSamples()
  }

  /** The agent keeps samples while it has no connection. If it is stopped before they are stored, they wait for the next agent. */
  #sendSamples(): void {
    const agent = this.#agent
    const { waitingSamples } = this.#options
    if (!agent || waitingSamples.length === 0) return
    const batch = waitingSamples.splice(0)
    agent.sample(batch).catch(() => {
      if (this.#agent !== agent) waitingSamples.unshift(...batch.slice(-maxWaitingSamples))
    })
  }

  /** An error in this work is a bug of a driver or of the gateway. It must not end the process. */
  #guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#options.log(`error in the driver: ${(error as Error).message}`)
    }
  }
}

class NoAnswer extends Error {}

const notKnownText = 'It is not known whether it was sent.'

const withinLimit = <T>(work: Promise<T>): Promise<T> =>
  limited(work, commandLimitMs, () => new NoAnswer('The device did not answer within 30 s.'))

const withinOnce = <T>(work: Promise<T>): Promise<T> =>
  limited(work, commandLimitMs, () => new NoAnswer(`${notKnownText} There was no answer within 30 s.`))

/**
 * Only the device itself tells what became of a command: its uptime, or its power. Undefined while it can still happen; `isOver` says that
 * the time for it is over.
 */
export function startedOutcome(
  { type, on, atMs }: StartedCommand,
  { startedAt, power }: Status,
  isOver: boolean,
): ReturnType<NonNullable<AgentOptions['outcomeOf']>> {
  if (type === 'POWER') {
    const isDone = on ? power === 'ON' : power === 'STANDBY' || power === 'OFF'
    if (isDone) return { state: 'SUCCEEDED' }
    return isOver ? { state: 'FAILED', error: 'It is not known whether the power was switched.' } : undefined
  }
  if (typeof startedAt !== 'string')
    return { state: 'FAILED', error: 'It is not known whether it restarted: the device does not tell its uptime.' }
  if (Date.parse(startedAt) >= atMs - uptimePrecisionMs) return { state: 'SUCCEEDED' }
  return isOver ? { state: 'FAILED', error: 'The device has not restarted.' } : undefined
}

/** The device's own status, and what its driver can do with it. */
function statusOf(session: DriverSession): Status {
  const { manufacturer, firmwareVersion } = session.identity
  const actions: DeviceAction[] = [
    ...(session.reboot ? ['reboot' as const] : []),
    ...(session.message ? ['message' as const] : []),
    ...(session.apply ? ['config' as const] : []),
    ...(session.power ? ['power' as const] : []),
    ...(session.logs ? ['logs' as const] : []),
  ]
  return {
    ...(manufacturer !== undefined && { manufacturer }),
    ...(firmwareVersion !== undefined && { firmwareVersion }),
    ...session.status(),
    actions,
  }
}

const isLater = (now: unknown, before: unknown): boolean =>
  typeof now === 'string' && typeof before === 'string' && Date.parse(now) > Date.parse(before)

function isSameValue(name: string, before: unknown, now: unknown): boolean {
  if (name === 'startedAt' && typeof before === 'string' && typeof now === 'string')
    return Math.abs(Date.parse(now) - Date.parse(before)) < sameStartMs
  return JSON.stringify(before ?? null) === JSON.stringify(now ?? null)
}
