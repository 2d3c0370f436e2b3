// The session of one mirrored device: its status, samples and settings as Neat Pulse has them, and commands that are sent there once.
import { EventEmitter } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { type DeviceAction, defaultActions } from '../../../contract/device/models.ts'
import { type DeviceSample, inUseError, type UpMessage } from '../../../contract/device/protocol.ts'
import type { AgentSettings } from '../../../device/handlers.ts'
import type { DeviceIdentity, DriverFailure, DriverSession, SessionEvents } from '../../driver.ts'
import { changedFields } from '../../drivers/changed-fields.ts'
import { shortLine } from '../../short-line.ts'
import type { DeviceMemory } from '../source.ts'
import { type AnswerObject, isObject, type PulseDevice } from './answers.ts'
import { ConfigChanges, type ConfigMemory, type ConfigOutcome } from './config-changes.ts'
import { bareSerialOf, manufacturerOf, mirroredStatus } from './mirrored-status.ts'
import { type CoveredReboot, notKnown, type PairMember } from './pair-reboots.ts'
import type { WriteOutcome } from './upstream.ts'

/** The list is newer than the details; these of its fields change often, or show that the details have changed. */
const listFields = [
  'name',
  'inCallStatus',
  'firmwareVersion',
  'localIpAddress',
  'pairingSerial',
  'pairedSerials',
  'power',
] as const
const maxReportedKeys = 500
const maxTextCharacters = 255

/** The part of the session with the source that a mirrored device uses. */
export interface MirrorPorts {
  readonly write: boolean
  readonly retryMs: number
  applyConfig(config: AgentSettings): Promise<WriteOutcome>
  /** The present settings; undefined if they cannot be read now. */
  readSettings(): Promise<AgentSettings | undefined>
  reboot(device: MirroredDevice, onlyIfIdle: boolean): Promise<void>
  message(text: string): Promise<WriteOutcome>
  bugReport(inCallLogs: boolean): Promise<WriteOutcome>
  isInUse(device: MirroredDevice): Promise<boolean>
  closed(device: MirroredDevice): void
}

/** The state of a device that outlives a restart of the gateway. */
interface MirrorMemory {
  readonly config?: ConfigMemory | undefined
  /** As they were last read: until they are read again, nothing else is reported. */
  readonly settings?: AgentSettings | undefined
  readonly covered?: CoveredReboot | undefined
}

export class MirroredDevice extends EventEmitter<SessionEvents> implements DriverSession, PairMember {
  readonly identity: DeviceIdentity
  readonly commandsOnce = true
  readonly samplesAsMeasured = true
  readonly apply?: NonNullable<DriverSession['apply']>
  readonly reboot?: NonNullable<DriverSession['reboot']>
  readonly message?: NonNullable<DriverSession['message']>
  readonly logs?: NonNullable<DriverSession['logs']>
  readonly #host: string
  readonly #ports: MirrorPorts
  readonly #memory: DeviceMemory
  #listed: PulseDevice
  #fields: AnswerObject
  #state: MirrorMemory
  #saving: Promise<void> = Promise.resolve()
  #sampledAt = 0
  #isOver = false

  constructor(host: string, listed: PulseDevice, memory: DeviceMemory, ports: MirrorPorts) {
    super()
    this.#host = host
    this.#ports = ports
    this.#memory = memory
    this.#listed = listed
    this.#fields = listFieldsOf(listed.fields)
    const state = memory.load()
    this.#state = isObject(state) ? state : {}
    this.identity = {
      manufacturer: manufacturerOf(listed),
      model: shortLine(listed.model, 64),
      serial: bareSerialOf(listed),
      firmwareVersion: mirroredStatus(listed.fields).firmwareVersion as string | undefined,
    }
    const can = (action: DeviceAction) => ports.write && actionsThere(listed).includes(action)
    const changes = this.#configChanges()
    if (can('config')) this.apply = (config) => changes.apply(config)
    if (can('reboot')) this.reboot = ({ onlyIfIdle }) => ports.reboot(this, onlyIfIdle)
    if (can('message'))
      this.message = async (text) => {
        answerOf(await ports.message(text))
      }
    if (can('logs')) this.logs = ({ inCallLogs }) => this.#bugReport(inCallLogs)
  }

  get id(): string {
    return this.#listed.id
  }

  get listed(): PulseDevice {
    return this.#listed
  }

  get offlineBecause(): string | undefined {
    return this.#listed.connected ? undefined : `The device is offline at ${this.#host}.`
  }

  status(): UpMessage<'status'> {
    return mirroredStatus(this.#fields)
  }

  settings(): AgentSettings {
    return this.#state.settings ?? {}
  }

  isInUse(): Promise<boolean> {
    return this.#ports.isInUse(this)
  }

  get covered(): CoveredReboot | undefined {
    return this.#state.covered
  }

  cover(covered: CoveredReboot | undefined): Promise<void> {
    return this.#save({ covered })
  }

  /** Takes the device as a newer list has it. */
  takeListed(listed: PulseDevice): void {
    const before = this.#listed
    this.#listed = listed
    const changes = listFields.filter((name) => !isDeepStrictEqual(before.fields[name], listed.fields[name]))
    this.#takeFields({ ...this.#fields, ...Object.fromEntries(changes.map((name) => [name, listed.fields[name]])) })
    if (before.connected !== listed.connected) this.emit('presence')
  }

  takeDetails(details: AnswerObject): void {
    this.#takeFields(details)
  }

  /** Takes the settings as they are there now. */
  takeSettings(answer: AnswerObject): void {
    const settings = settingsIn(answer)
    if (this.#isOver || isDeepStrictEqual(settings, this.#state.settings)) return
    this.#save({ settings }).catch(() => {})
    this.emit('settings')
  }

  /** The latest sample stays the same until the device measures again. */
  takeSample(sample: DeviceSample): void {
    if (this.#isOver || sample.timestamp <= this.#sampledAt) return
    // The gateway first enrols the device, and then listens.
    if (this.listenerCount('sample') === 0) return
    this.#sampledAt = sample.timestamp
    this.emit('sample', sample)
  }

  end(failure: DriverFailure): void {
    if (this.#isOver) return
    this.close()
    this.emit('ended', failure)
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#ports.closed(this)
  }

  #takeFields(fields: AnswerObject): void {
    const before = this.status()
    this.#fields = fields
    const changes = changedFields(before, this.status())
    if (changes && !this.#isOver) this.emit('status', changes)
  }

  #configChanges(): ConfigChanges {
    return new ConfigChanges({
      load: () => this.#state.config,
      save: (config) => this.#save({ config }),
      send: async (config) => {
        const outcome = await this.#ports.applyConfig(config)
        // The answer has all settings, as the next reading of them would.
        if (outcome.kind === 'accepted' && isObject(outcome.answer) && isObject(outcome.answer.config))
          this.takeSettings(outcome.answer.config)
        return configOutcome(outcome, Object.keys(config))
      },
      read: () => this.#ports.readSettings(),
      pause: () =>
        new Promise((resolve) => {
          setTimeout(() => {
            if (!this.#isOver) resolve()
          }, this.#ports.retryMs)
        }),
    })
  }

  async #bugReport(inCallLogs: boolean): Promise<string> {
    const answer = answerOf(await this.#ports.bugReport(inCallLogs))
    const supportId = isObject(answer) ? answer.supportId : undefined
    if (typeof supportId !== 'string') throw new Error(`${this.#host} made a bug report and told no support ID.`)
    return `The logs of this device are at ${this.#host}, with the support ID ${shortLine(supportId, 100)}.\n`
  }

  /** Saves one after the other, so an older state never replaces a newer one. */
  async #save(changes: MirrorMemory): Promise<void> {
    this.#state = { ...this.#state, ...changes }
    this.#saving = this.#saving.catch(() => {}).then(() => this.#memory.save(this.#state))
    await this.#saving
  }
}

/** The answer to a command. Throws why it failed, in the words that a person reads. */
export function answerOf(outcome: WriteOutcome): unknown {
  if (outcome.kind === 'accepted') return outcome.answer
  throw new Error(outcome.kind === 'unknown' ? `${notKnown}: ${outcome.reason}` : outcome.reason)
}

/** Throws as an agent does if the device is in use. */
export const inUse = (): Error => new Error(inUseError)

function configOutcome(outcome: WriteOutcome, sent: readonly string[]): ConfigOutcome {
  if (outcome.kind !== 'refused') return outcome
  const { reason, fields } = outcome
  // "… the following fields contain conflicts: [a, b]"
  const quoted = /\[([\w\s,]*)\]/.exec(reason)?.[1]?.split(/[\s,]+/) ?? []
  const named = sent.filter((key) => quoted.includes(key) || fields.some((field) => field.split(/[./]/).includes(key)))
  return { kind: 'refused', keys: named, reason }
}

/** Settings as a device reports them: one value for each key. */
const settingsIn = (answer: AnswerObject): AgentSettings =>
  Object.fromEntries(
    Object.entries(answer)
      .filter(
        (entry): entry is [string, boolean | number | string] =>
          typeof entry[1] === 'boolean' ||
          (typeof entry[1] === 'number' && Number.isFinite(entry[1])) ||
          (typeof entry[1] === 'string' && entry[1].length <= maxTextCharacters),
      )
      .slice(0, maxReportedKeys),
  )

const listFieldsOf = (fields: AnswerObject): AnswerObject =>
  Object.fromEntries(listFields.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])))

/** Neat Pulse does not say what its devices can do; another Roomkeeper does. */
const actionsThere = ({ fields }: PulseDevice): readonly unknown[] =>
  Array.isArray(fields.actions) ? fields.actions : defaultActions
