// Supervises one source: keeps a session with it, tells the server what it says, and lends the session to the items of its devices.
import { setTimeout as pause } from 'node:timers/promises'
import { type BackOff, backOffMs } from '../../client/back-off.ts'
import type { ListedSource } from '../../contract/device/protocol.ts'
import { dayMs, minuteMs, secondMs } from '../../contract/durations.ts'
import { maxSourceDevices, type SourceContent } from '../../contract/fleet/sources.ts'
import { DriverFailure, type DriverSession } from '../driver.ts'
import type { GatewayFolder } from '../folder.ts'
import type { GatewayNetwork } from '../network.ts'
import type { ServerClient } from '../server-client.ts'
import { secretsOfSource, shortLine, withoutSecrets } from '../short-line.ts'
import type { SourceReport } from '../state-reports.ts'
import { KnownDevices } from './known-devices.ts'
import { driverSettings, failureOf, openSource } from './open-source.ts'
import { type SourceContext, type SourceDeviceContext, SourceFailure, type SourceSession } from './source.ts'
import type { SourceTable } from './source-table.ts'
import { SourceUploads } from './source-uploads.ts'
import { storableContent } from './storable-content.ts'

/** A source that is away is tried often at first. It can count the requests of its customer, so the waits grow. */
const usualBackOff = { firstMs: 2 * secondMs, maxMs: minuteMs }
/** CHANGED and UNSUPPORTED need a person, who can also change the source itself. */
const personBackOff = { firstMs: 5 * minuteMs, maxMs: 5 * minuteMs }
/** Wrong passwords can lock an account. */
const refusedForMs = dayMs
/** However long the source asks to wait. */
const longestWaitMs = dayMs
/** A session that lasted this long was a success: the back-off starts again. */
const stableMs = minuteMs
const openLimitMs = minuteMs
/** A device session that is still open by then is left behind. */
const closeLimitMs = 15 * secondMs
/** The server has to know that the source is away before its devices leave: then they are UNKNOWN, not OFFLINE. */
const acknowledgeLimitMs = 5 * secondMs

/** Shared by all sources of a gateway. */
export interface SourcesContext {
  readonly sources: SourceTable
  readonly network: GatewayNetwork
  readonly folder: GatewayFolder
  readonly server: ServerClient
  readonly own: SourceContext['own']
  /** The keys of the adopted devices of a source. */
  readonly adoptedKeys: (id: string) => readonly string[]
  readonly report: (report: SourceReport) => void
  /** Resolves when the server has acknowledged the latest state of a source, or after the limit. */
  readonly acknowledged: (id: string, limitMs: number) => Promise<void>
  readonly log: (line: string) => void
}

/** A device that can be opened now. */
export interface AvailableDevice {
  /** Aborts with a DriverFailure when the source is away, or no longer lists the device. */
  readonly left: AbortSignal
  open(context: SourceDeviceContext): Promise<DriverSession>
  /** Call after the session of the device has ended. */
  release(): void
}

/** A session with the source that stands. */
interface Connection {
  readonly session: SourceSession
  /** The keys of the devices that are lent. */
  readonly devices: Map<AbortController, string>
  /** Called after each device that was given back. */
  released: () => void
}

export class SourceSupervisor {
  #source: ListedSource
  readonly #context: SourcesContext
  readonly #devices = new KnownDevices()
  readonly #uploads: SourceUploads
  /** Ends with the supervisor. */
  readonly #end = new AbortController()
  /** Ends with each change of the source. */
  #lifetime: AbortController | undefined
  #ended: Promise<void> = Promise.resolve()
  #connection: Connection | undefined
  #content: SourceContent | undefined
  /** Why there is no connection; undefined before the first attempt has ended. */
  #awayText: string | undefined
  #loggedLine = ''
  readonly #waiting = new Set<() => void>()

  constructor(source: ListedSource, context: SourcesContext) {
    this.#source = source
    this.#context = context
    const { id } = source
    this.#uploads = new SourceUploads(
      {
        devices: this.#devices,
        revision: () => this.#source.revision,
        reportFound: (report, signal) => context.server.reportFound(id, report, signal),
        reportStructure: (report, signal) => context.server.reportStructure(id, report, signal),
        log: (line) => this.#log(line),
      },
      this.#end.signal,
    )
  }

  /** No text about the source, or about one of its devices, contains one of these. */
  get secrets(): string[] {
    return secretsOfSource(this.#source)
  }

  start(): void {
    const lifetime = new AbortController()
    this.#lifetime = lifetime
    // The session of the source as it was ends before the next one starts.
    this.#ended = this.#ended
      .then(() => this.#supervise(lifetime.signal))
      .catch((error: Error) => {
        if (!lifetime.signal.aborted) this.#log(`stopped: ${error.message}`)
      })
  }

  async stop(): Promise<void> {
    this.#end.abort()
    this.#lifetime?.abort()
    await this.#ended
  }

  /** Takes the newest values of the source. An open session goes on if they do not concern it. */
  update(source: ListedSource): void {
    const before = this.#source
    this.#source = source
    const isSame = JSON.stringify(driverSettings(before)) === JSON.stringify(driverSettings(source))
    const hasRevision = before.revision !== source.revision
    const { deviceCount = Number.POSITIVE_INFINITY, hasStructure = true } = source
    if (!isSame) {
      this.#devices.clear()
      this.#uploads.setStructure(undefined)
      this.#content = undefined
    }
    const areDevicesLost = deviceCount < this.#devices.storedCount
    this.#uploads.sendAgain({ devices: hasRevision || areDevicesLost, structure: hasRevision || !hasStructure })
    if (!this.#lifetime || (isSame && !hasRevision)) return
    if (isSame && this.#connection) {
      this.#report({ state: 'CONNECTED', reason: '' })
    } else {
      this.#lifetime.abort()
      this.start()
    }
  }

  /** Waits until the source is connected and has the device. `onAbsent` gets the reason why it has to wait, in words. */
  async available(
    key: string,
    { signal, onAbsent }: { readonly signal: AbortSignal; readonly onAbsent: (reason: string) => void },
  ): Promise<AvailableDevice> {
    for (let told: string | undefined; ; ) {
      signal.throwIfAborted()
      const connection = this.#connection
      if (connection && !this.#devices.isMissing(key)) return lend(connection, key)
      const reason = connection ? missingText : this.#awayText
      if (reason !== undefined && reason !== told) onAbsent(reason)
      told = reason
      const { promise, resolve } = Promise.withResolvers<void>()
      const wake = () => resolve()
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake, { once: true })
      await promise
      this.#waiting.delete(wake)
      signal.removeEventListener('abort', wake)
    }
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }

  async #supervise(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      await this.#waitForKey(signal)
      const startedAtMs = performance.now()
      const failure = await this.#attempt(signal)
      if (signal.aborted) return
      if (performance.now() - startedAtMs >= stableMs) failures = 0
      const { state, retryAfterMs } = failure
      if (state === 'REFUSED') await this.#rememberRefusal(failure)
      else
        await pause(Math.min(retryAfterMs ?? backOffMs(failures++, backOffOf(state)), longestWaitMs), undefined, {
          signal,
        })
    }
  }

  /** Saved, because a gateway that restarts must not try the same key again. */
  async #rememberRefusal({ message, retryAfterMs = refusedForMs }: SourceFailure): Promise<void> {
    const { id, targetRevision: revision } = this.#source
    const reason = shortLine(withoutSecrets(this.secrets, message))
    const refused = { revision, untilMs: Date.now() + Math.min(retryAfterMs, refusedForMs), reason }
    await this.#context.folder.saveSource(id, { refused }).catch((error: Error) => this.#log(notSaved(error)))
  }

  async #waitForKey(signal: AbortSignal): Promise<void> {
    const { id, targetRevision } = this.#source
    const { refused } = this.#context.folder.source(id)
    const waitMs = refused?.revision === targetRevision ? refused.untilMs - Date.now() : 0
    if (!refused || waitMs <= 0) return
    this.#awayText = awayText(refused.reason)
    this.#report({ state: 'REFUSED', reason: refused.reason })
    this.#wake()
    await pause(Math.min(waitMs, refusedForMs), undefined, { signal })
  }

  /** Opens a session and waits for its end. Resolves with the reason why it ended, or could not be opened. */
  async #attempt(signal: AbortSignal): Promise<SourceFailure> {
    const attempt = new AbortController()
    const ended = Promise.withResolvers<SourceFailure>()
    const end = () => {
      ended.resolve(changedFailure())
      attempt.abort(signal.reason)
    }
    signal.addEventListener('abort', end, { once: true })
    const { id } = this.#source
    let session: SourceSession | undefined
    try {
      signal.throwIfAborted()
      const { sources, network, own, folder } = this.#context
      const context = {
        network: network.forSource(),
        signal: attempt.signal,
        own,
        knownKeys: () => this.#devices.present(this.#context.adoptedKeys(id)),
        deviceCount: this.#source.deviceCount,
        log: (line: string) => this.#log(line),
      }
      const listen = (opened: SourceSession) => this.#listen(opened, attempt.signal, ended.resolve)
      session = await openSource(sources, driverSettings(this.#source), context, { limitMs: openLimitMs, listen })
      if (folder.source(id).refused)
        await folder.saveSource(id, { refused: undefined }).catch((error: Error) => this.#log(notSaved(error)))
      this.#connect(session)
      return await this.#leave(await ended.promise, signal)
    } catch (error) {
      return await this.#leave(failureOf(error), signal)
    } finally {
      signal.removeEventListener('abort', end)
      this.#close(session)
      attempt.abort()
    }
  }

  #listen(session: SourceSession, signal: AbortSignal, end: (failure: SourceFailure) => void): void {
    let isOver = false
    const guarded =
      <T>(take: (value: T) => void) =>
      (value: T) => {
        if (isOver || signal.aborted) return
        try {
          take(value)
        } catch (error) {
          this.#log(`error in the driver: ${(error as Error).message}`)
        }
      }
    session.on(
      'found',
      guarded((devices) => {
        if (!this.#devices.merge(devices)) this.#logOnce(`has more than ${maxSourceDevices} devices: some are left out`)
        this.#devicesChanged()
      }),
    )
    session.on(
      'listed',
      guarded((keys) => {
        this.#devices.list(keys)
        this.#devicesChanged()
      }),
    )
    session.on(
      'structure',
      guarded((structure) => this.#uploads.setStructure(structure)),
    )
    session.on(
      'content',
      guarded((content) => {
        this.#content = content
        if (this.#connection) this.#report({ state: 'CONNECTED', reason: '' })
      }),
    )
    session.once('ended', (failure) => {
      isOver = true
      end(failureOf(failure))
    })
    // An emitter without a listener for errors would end the gateway.
    ;(session as NodeJS.EventEmitter).on('error', () => {})
  }

  #devicesChanged(): void {
    this.#uploads.wake()
    this.#wake()
    for (const [controller, key] of this.#connection?.devices ?? [])
      if (this.#devices.isMissing(key)) controller.abort(new DriverFailure('UNREACHABLE', missingText))
  }

  #connect(session: SourceSession): void {
    this.#connection = { session, devices: new Map(), released: () => {} }
    this.#content = session.summary().content ?? this.#content
    this.#report({ state: 'CONNECTED', reason: '' })
    this.#wake()
  }

  /** First tells the server that the source is away: then its devices are UNKNOWN when they leave. */
  async #leave(failure: SourceFailure, signal: AbortSignal): Promise<SourceFailure> {
    const { id, state: knownState } = this.#source
    const connection = this.#connection
    this.#connection = undefined
    this.#awayText = awayText(shortLine(withoutSecrets(this.secrets, failure.message)))
    // The server itself decides that a source is away if a person has changed its address or a secret.
    const isKnown = signal.aborted && (!connection || knownState !== 'CONNECTED')
    const isReported = !isKnown && !this.#end.signal.aborted
    if (isReported) this.#report({ state: failure.state, reason: failure.message })
    this.#wake()
    if (connection && isReported) await this.#context.acknowledged(id, acknowledgeLimitMs)
    if (connection) await this.#endDevices(connection)
    return failure
  }

  /** Resolves when the device sessions have ended, and their agents are disconnected. */
  async #endDevices(connection: Connection): Promise<void> {
    if (connection.devices.size === 0) return
    const released = new Promise<void>((resolve) => {
      connection.released = () => {
        if (connection.devices.size === 0) resolve()
      }
    })
    const failure = new DriverFailure('UNREACHABLE', this.#awayText ?? '')
    for (const controller of connection.devices.keys()) controller.abort(failure)
    await Promise.race([released, pause(closeLimitMs, undefined, { ref: false })])
  }

  #report({ state, reason }: { readonly state: SourceReport['state']; readonly reason: string }): void {
    const text = shortLine(withoutSecrets(this.secrets, reason))
    const { id, revision } = this.#source
    const content = state === 'CONNECTED' && this.#content ? storableContent(this.#content) : undefined
    this.#context.report({ id, revision, state, ...(text !== '' && { reason: text }), ...(content && { content }) })
    this.#logOnce(text === '' ? state : `${state}: ${text}`)
  }

  #close(session: SourceSession | undefined): void {
    try {
      session?.close()
    } catch (error) {
      this.#log(`session not closed: ${(error as Error).message}`)
    }
  }

  /** A source that stays away is tried again and again, and has one line. */
  #logOnce(line: string): void {
    if (line !== this.#loggedLine) this.#log(line)
    this.#loggedLine = line
  }

  #log(line: string): void {
    const { type, url } = this.#source
    this.#context.log(`source ${type} ${url}: ${withoutSecrets(this.secrets, line)}`)
  }
}

function lend(connection: Connection, key: string): AvailableDevice {
  const { session, devices } = connection
  const controller = new AbortController()
  devices.set(controller, key)
  return {
    left: controller.signal,
    open: (context) => session.openDevice(key, context),
    release: () => {
      devices.delete(controller)
      connection.released()
    },
  }
}

const notSaved = ({ message }: Error) => `The gateway cannot save its state: ${message}`
const awayText = (reason: string) => `Its source is away: ${reason}`
const missingText = 'The source no longer lists this device.'
const changedFailure = () => new SourceFailure('UNREACHABLE', 'The source was changed, and is being connected again.')

const backOffOf = (state: SourceFailure['state']): BackOff =>
  state === 'CHANGED' || state === 'UNSUPPORTED' ? personBackOff : usualBackOff
