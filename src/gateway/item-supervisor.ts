// Supervises one item of the list: opens a session with its device, enrols it, and keeps its agent connected while the session lasts.
import { setTimeout as pause } from 'node:timers/promises'
import { type BackOff, backOffMs } from '../client/back-off.ts'
import type { DeviceSample, EnrolAnswer, ListedGatewayDevice } from '../contract/device/protocol.ts'
import { dayMs, hourMs, minuteMs, secondMs } from '../contract/durations.ts'
import type { AgentStorage } from '../device/handlers.ts'
import type { ConnectionTimes } from '../device/reconnect.ts'
import { DeviceLink } from './device-link.ts'
import { type DeviceIdentity, DriverFailure, type DriverSession } from './driver.ts'
import type { DriverTable } from './driver-table.ts'
import type { DeviceRecord, GatewayFolder } from './folder.ts'
import type { Pace } from './limited.ts'
import type { GatewayNetwork } from './network.ts'
import { listenTo, type OpenedSession, openDriverSession, openWithin } from './open-driver-session.ts'
import { type ServerClient, ServerRefusal } from './server-client.ts'
import { secretsOfItem, shortLine, withoutSecrets } from './short-line.ts'
import type { AvailableDevice, SourceSupervisor } from './sources/source-supervisor.ts'
import type { ItemReport } from './state-reports.ts'

/** A device that has failed for less than this is tried often: it is back soon after its network. */
const recentMs = 10 * minuteMs
const recentBackOff = { firstMs: secondMs, maxMs: 10 * secondMs }
const lateBackOff = { firstMs: minuteMs, maxMs: minuteMs }
/** The server did not answer, or a person has to resolve a conflict in it, such as a DUPLICATE. */
const enrolBackOff = { firstMs: 2 * secondMs, maxMs: 2 * minuteMs }
/** CHANGED and UNSUPPORTED need a person. They are tried again because the person can change the device instead of the item. */
const personBackOff = { firstMs: 5 * minuteMs, maxMs: 5 * minuteMs }
/** Codecs lock an account after five wrong passwords, and some after one. */
const refusedForMs = dayMs
/** A session that lasted this long was a success: the back-off starts again. */
const stableMs = minuteMs
const openLimitMs = minuteMs
/** A credential that the server does not know is replaced at most this often. */
const enrolAgainMs = hourMs / 6

/** Shared by all items of a gateway. */
export interface ItemContext {
  readonly drivers: DriverTable
  readonly network: GatewayNetwork
  readonly folder: GatewayFolder
  readonly server: ServerClient
  readonly source: (id: string) => SourceSupervisor | undefined
  /** Adds the MQTT address on the host of the API, in case the addresses from the enrolment are out of date. */
  readonly addresses: (identity: EnrolAnswer) => EnrolAnswer
  /** How long a device can take to restart. */
  readonly restartWithinMs: number
  readonly connection: ConnectionTimes
  readonly openPace: Pace
  readonly connectPace: Pace
  readonly report: (report: ItemReport) => void
  readonly forgetReport: (id: string) => void
  readonly log: (line: string) => void
}

/** How an attempt ended: the state of the item until the next attempt. */
interface Ending {
  /** NOT_ENROLLED: the server refused the enrolment, and has stored the state itself. */
  readonly state: ItemReport['state'] | 'REMOVED' | 'ENROL_AGAIN' | 'NOT_ENROLLED'
  readonly reason: string
  readonly retryAfterMs?: number | undefined
}

export class ItemSupervisor {
  #item: ListedGatewayDevice
  readonly #context: ItemContext
  readonly #waitingSamples: DeviceSample[] = []
  #lifetime: AbortController | undefined
  #ended: Promise<void> = Promise.resolve()
  #link: DeviceLink | undefined
  /** Set while the session stands. */
  #session: DriverSession | undefined
  #mayConnect = false
  /** Undefined while the server decides the state. */
  #reported: Ending | undefined
  #loggedState = ''
  #enrolledAgainAtMs = Number.NEGATIVE_INFINITY

  constructor(item: ListedGatewayDevice, context: ItemContext) {
    this.#item = item
    this.#context = context
  }

  get #record(): DeviceRecord {
    return this.#context.folder.device(this.#item.id)
  }

  /** No text about the device contains one of these. */
  get #secrets(): string[] {
    const { sourceId } = this.#item
    const source = sourceId === undefined ? undefined : this.#context.source(sourceId)
    return [...secretsOfItem(this.#item), ...(source?.secrets ?? [])]
  }

  /** The key of its device at this source. */
  keyAt(source: string): string | undefined {
    return this.#item.sourceId === source ? this.#item.sourceKey : undefined
  }

  start(): void {
    const lifetime = new AbortController()
    this.#lifetime = lifetime
    const item = this.#item
    // The session of the item as it was ends before the next one starts: some devices allow only one.
    this.#ended = this.#ended
      .then(() => this.#supervise(item, lifetime.signal))
      .catch((error: Error) => {
        if (!lifetime.signal.aborted) this.#log(item, `stopped: ${error.message}`)
      })
  }

  /** Ends the session. Resolves when the agent is disconnected. */
  async stop(): Promise<void> {
    this.#lifetime?.abort()
    await this.#ended
  }

  /**
   * Takes the newest values of the item. An open session goes on if they lead to the same device in the same way. With only another name or
   * room, nothing is tried again: not even a refused password.
   */
  update(item: ListedGatewayDevice): void {
    const before = this.#item
    this.#item = item
    const isSame = targetOf(before) === targetOf(item) && (before.state === 'REMOVED') === (item.state === 'REMOVED')
    if (!this.#lifetime || (isSame && before.revision === item.revision)) return
    const isTriedAgain = !isSame || before.targetRevision !== item.targetRevision
    if (isSame && this.#link) this.#report(item, this.#presence)
    else if (isTriedAgain) {
      this.#lifetime.abort()
      this.start()
      // The server ignores reports about the revision before, and this one may be on its way.
    } else if (this.#reported) this.#report(item, this.#reported)
  }

  /** Devices are connected only while the gateway is. */
  allowConnection(isAllowed: boolean): void {
    if (this.#mayConnect === isAllowed) return
    this.#mayConnect = isAllowed
    const link = this.#link
    if (!link || !isAllowed) return void link?.connect(false)
    void this.#connect(link, this.#lifetime?.signal ?? AbortSignal.abort())
  }

  /** The device as its source sees it; without a source, a session is enough. */
  get #presence(): Ending {
    const { offlineBecause } = this.#session ?? {}
    return offlineBecause === undefined
      ? { state: 'CONNECTED', reason: '' }
      : { state: 'UNREACHABLE', reason: offlineBecause }
  }

  #followPresence(link: DeviceLink, signal: AbortSignal): void {
    this.#report(this.#item, this.#presence)
    if (this.#presence.state !== 'CONNECTED') void link.connect(false)
    else if (this.#mayConnect) void this.#connect(link, signal)
  }

  async #connect(link: DeviceLink, signal: AbortSignal): Promise<void> {
    await this.#context.connectPace.turn(signal).catch(() => {})
    const isWanted = this.#mayConnect && this.#presence.state === 'CONNECTED'
    if (isWanted && this.#link === link && !signal.aborted) await link.connect(true)
  }

  async #supervise(item: ListedGatewayDevice, signal: AbortSignal): Promise<void> {
    let failures = 0
    let failingSinceMs = performance.now()
    while (!signal.aborted) {
      if (this.#isRemoved()) return this.#forget(item)
      await this.#waitForPassword(item, signal)
      const startedAtMs = performance.now()
      // An attempt rejects only if the folder cannot be written: the disk is full, or gone.
      const ending = await this.#attempt(item, signal).catch(
        ({ message }: Error): Ending => ({
          state: 'UNREACHABLE',
          reason: `The gateway cannot save its state: ${message}`,
        }),
      )
      if (signal.aborted) return
      if (performance.now() - startedAtMs >= stableMs) {
        failures = 0
        failingSinceMs = performance.now()
      }
      if (ending.state === 'REMOVED') return
      if (ending.state === 'ENROL_AGAIN') continue
      this.#report(item, ending)
      if (ending.state === 'REFUSED') continue
      const isRecent = performance.now() - failingSinceMs < recentMs
      const waitMs = ending.retryAfterMs ?? backOffMs(failures++, backOffOf(ending.state, isRecent))
      await pause(waitMs, undefined, { signal })
    }
  }

  #isRemoved(): boolean {
    const { targetRevision, state } = this.#item
    return state === 'REMOVED' || targetRevision <= (this.#record.removedRevision ?? -1)
  }

  /** After a wrong password nothing is tried until a person changes the item or asks for it, or a day has passed. */
  async #waitForPassword(item: ListedGatewayDevice, signal: AbortSignal): Promise<void> {
    const { refused } = this.#record
    const waitMs = refused?.revision === this.#item.targetRevision ? refused.atMs + refusedForMs - Date.now() : 0
    if (!refused || waitMs <= 0) return
    this.#report(item, { state: 'REFUSED', reason: refused.reason })
    await pause(Math.min(waitMs, refusedForMs), undefined, { signal })
  }

  /** Opens a session and waits for its end. Resolves with the reason why it ended, or could not be opened. */
  async #attempt(item: ListedGatewayDevice, signal: AbortSignal): Promise<Ending> {
    const { sourceId, sourceKey = '' } = item
    if (sourceId === undefined) return this.#attemptSession(item, undefined, signal)
    const source = this.#context.source(sourceId)
    if (!source)
      return { state: 'UNSUPPORTED', reason: 'The source of this device is not on the list of this gateway.' }
    const onAbsent = (reason: string) => this.#report(item, { state: 'UNREACHABLE', reason })
    const device = await source.available(sourceKey, { signal, onAbsent })
    try {
      const { left } = device
      const ending = await this.#attemptSession(item, device, AbortSignal.any([signal, left]))
      // The next attempt waits until the source has the device again.
      return left.aborted ? { state: 'UNREACHABLE', reason: left.reason.message, retryAfterMs: 0 } : ending
    } finally {
      device.release()
    }
  }

  async #attemptSession(
    item: ListedGatewayDevice,
    device: AvailableDevice | undefined,
    signal: AbortSignal,
  ): Promise<Ending> {
    const attempt = new AbortController()
    const end = () => attempt.abort(signal.reason)
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
    const { folder, openPace } = this.#context
    let session: DriverSession | undefined
    try {
      await openPace.turn(attempt.signal)
      const opened = await this.#open(item, device, attempt.signal)
      session = opened.session
      if (this.#record.refused) await folder.saveDevice(item.id, { refused: undefined })
      const identity = await this.#credential(item, session.identity, attempt.signal)
      return await this.#keepConnected(item, session, identity, opened.ended, attempt.signal)
    } catch (error) {
      return await this.#endingOf(error, signal)
    } finally {
      signal.removeEventListener('abort', end)
      this.#close(item, session)
      attempt.abort()
    }
  }

  async #open(
    item: ListedGatewayDevice,
    device: AvailableDevice | undefined,
    signal: AbortSignal,
  ): Promise<OpenedSession> {
    const { drivers, network, folder } = this.#context
    const limits = { signal, limitMs: openLimitMs }
    if (!device) {
      const isEnrolled = this.#record.identity !== undefined
      return openDriverSession(drivers, { ...item, isEnrolled }, { ...limits, network: network.forAttempt() })
    }
    const memory = {
      load: () => this.#record.memory,
      save: (state: unknown) => folder.saveDevice(item.id, { memory: state }),
    }
    const late = (seconds: number) =>
      new DriverFailure('UNREACHABLE', `The source did not open this device within ${seconds} s.`)
    return listenTo(await openWithin(() => device.open({ signal, memory }), { ...limits, late }))
  }

  /** The stored credential of the device, or else a new one: the device is enrolled. */
  async #credential(item: ListedGatewayDevice, found: DeviceIdentity, signal: AbortSignal): Promise<EnrolAnswer> {
    const { folder, server } = this.#context
    const { identity, serial } = this.#record
    if (identity && serial !== undefined && found.serial !== undefined && found.serial !== serial)
      throw new DriverFailure(
        'CHANGED',
        `Another device answers: its serial number is ${found.serial}, and ${serial} was enrolled. If it was replaced, delete the endpoint and choose "Try again".`,
      )
    if (identity) return identity
    const { model, manufacturer } = found
    const enrolled = await server.enrol(
      item.id,
      {
        model: shortLine(model, 64),
        ...(found.serial !== undefined && { serial: found.serial }),
        ...(manufacturer !== undefined && { manufacturer: shortLine(manufacturer, 100) }),
      },
      signal,
    )
    await folder.saveDevice(item.id, { identity: enrolled, serial: found.serial, removedRevision: undefined })
    this.#log(item, `enrolled as ${enrolled.endpointId}`)
    return enrolled
  }

  /** Connects the agent while the session lasts. */
  async #keepConnected(
    item: ListedGatewayDevice,
    session: DriverSession,
    identity: EnrolAnswer,
    ended: Promise<DriverFailure>,
    signal: AbortSignal,
  ): Promise<Ending> {
    const { folder, addresses } = this.#context
    const storage: AgentStorage = {
      load: () => this.#record.agent,
      save: (agent) => folder.saveDevice(item.id, { agent }),
    }
    let leave: (ending: Ending) => void = () => {}
    const left = new Promise<Ending>((resolve) => {
      leave = resolve
    })
    const link = new DeviceLink({
      session,
      identity: addresses(identity),
      storage,
      waitingSamples: this.#waitingSamples,
      restartWithinMs: this.#context.restartWithinMs,
      connection: this.#context.connection,
      log: (line) => this.#log(item, line),
      onUnenrolled: () => leave({ state: 'REMOVED', reason: '' }),
      onCredentialRefused: () => {
        if (performance.now() - this.#enrolledAgainAtMs >= enrolAgainMs) leave({ state: 'ENROL_AGAIN', reason: '' })
      },
    })
    this.#link = link
    this.#session = session
    session.on('presence', () => {
      if (this.#link === link) this.#followPresence(link, signal)
    })
    signal.addEventListener('abort', () => leave({ state: 'UNREACHABLE', reason: '' }), { once: true })
    try {
      signal.throwIfAborted()
      this.#followPresence(link, signal)
      const ending = await Promise.race([left, ended.then((failure) => this.#endingOf(failure, signal))])
      if (ending.state === 'REMOVED') await this.#forget(item)
      if (ending.state === 'ENROL_AGAIN') {
        this.#enrolledAgainAtMs = performance.now()
        this.#log(item, 'the server does not know the credential of this device: enrolling it again')
        await folder.saveDevice(item.id, { identity: undefined })
      }
      return ending
    } finally {
      this.#link = undefined
      this.#session = undefined
      await link.close()
    }
  }

  /** The endpoint was deleted in the server. A later target revision means that a person wants it back. */
  async #forget({ id }: ListedGatewayDevice): Promise<void> {
    const { targetRevision } = this.#item
    if (!this.#record.identity && this.#record.removedRevision === targetRevision) return
    await this.#context.folder.saveDevice(id, {
      identity: undefined,
      serial: undefined,
      agent: undefined,
      memory: undefined,
      removedRevision: targetRevision,
    })
    this.#log(this.#item, 'removed in the server')
  }

  async #endingOf(error: unknown, signal: AbortSignal): Promise<Ending> {
    if (error instanceof DriverFailure) {
      const { state, message: reason } = error
      const { id, targetRevision } = this.#item
      // Saved, because a gateway that restarts must not try the same password again.
      if (state === 'REFUSED' && !signal.aborted)
        await this.#context.folder.saveDevice(id, {
          refused: {
            revision: targetRevision,
            atMs: Date.now(),
            reason: shortLine(withoutSecrets(this.#secrets, reason)),
          },
        })
      return { state, reason }
    }
    if (error instanceof ServerRefusal) {
      const { retryAfterMs, message: reason } = error
      return { state: 'NOT_ENROLLED', reason, retryAfterMs }
    }
    const reason = error instanceof Error ? error.message : String(error)
    return { state: 'UNREACHABLE', reason: `The driver failed: ${reason}` }
  }

  #report(item: ListedGatewayDevice, { state, reason }: Ending): void {
    if (state === 'REMOVED' || state === 'ENROL_AGAIN') return
    const text = shortLine(withoutSecrets(this.#secrets, reason))
    const { id, revision } = this.#item
    this.#reported = state === 'NOT_ENROLLED' ? undefined : { state, reason }
    if (state === 'NOT_ENROLLED') this.#context.forgetReport(id)
    else this.#context.report({ id, revision, state, ...(text !== '' && { reason: text }) })
    const line = text === '' ? state : `${state}: ${text}`
    // A device that stays away is tried again every few seconds, and has one line.
    if (line !== this.#loggedState) this.#log(item, line)
    this.#loggedState = line
  }

  #close(item: ListedGatewayDevice, session: DriverSession | undefined): void {
    try {
      session?.close()
    } catch (error) {
      this.#log(item, `session not closed: ${(error as Error).message}`)
    }
  }

  #log(item: ListedGatewayDevice, line: string): void {
    const { driver, host, name, sourceKey: address = host } = item
    this.#context.log(`${name ?? address} (${driver} ${address}): ${withoutSecrets(this.#secrets, line)}`)
  }
}

const backOffOf = (state: Ending['state'], isRecent: boolean): BackOff => {
  if (state === 'NOT_ENROLLED') return enrolBackOff
  if (state !== 'UNREACHABLE') return personBackOff
  return isRecent ? recentBackOff : lateBackOff
}

/** Everything that a connection to the device depends on. A source looks after its own address. */
const targetOf = (item: ListedGatewayDevice): string => {
  const { driver, sourceId, sourceKey, host, port, username, secret, options, fingerprint } = item
  const target = sourceId === undefined ? [host, port, username, secret, options, fingerprint] : [sourceId, sourceKey]
  return JSON.stringify([driver, ...target])
}
