// Sends the settings that were changed here, and no others: what is changed at the source stays until a person sets that key here.
import { randomBytes, scryptSync } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { configKeys } from '../../../contract/device/config-keys.ts'
import type { AgentSettings } from '../../../device/handlers.ts'
import { notKnown } from './pair-reboots.ts'

/** Survives a restart of the gateway. Passwords are in it as hashes. */
export interface ConfigMemory {
  /** The desired values that the source has accepted. A key that it refused is not among them. */
  readonly accepted: AgentSettings
  /** The values of a request whose outcome is not known yet. */
  readonly sending?: AgentSettings | undefined
  /** Values that were sent without an answer and are not there. They are not sent again until a person sets the key. */
  readonly unknown?: Readonly<Record<string, UnknownValue>> | undefined
}

interface UnknownValue {
  readonly value: AgentSettings[string]
  readonly reason: string
}

export type ConfigOutcome =
  | { readonly kind: 'accepted' }
  /** Nothing was set. `keys` are those that the answer names; empty if it names none. */
  | { readonly kind: 'refused'; readonly keys: readonly string[]; readonly reason: string }
  /** Certainly nothing was set, and it can be tried later. */
  | { readonly kind: 'later' }
  | { readonly kind: 'unknown'; readonly reason: string }

export interface ConfigPorts {
  load(): ConfigMemory | undefined
  /** Resolves when it is durable. */
  save(memory: ConfigMemory): Promise<void>
  /** Never rejects. */
  send(config: AgentSettings): Promise<ConfigOutcome>
  /** The present settings at the source, without passwords; undefined if they cannot be read now. */
  read(): Promise<AgentSettings | undefined>
  /** Resolves before the next attempt. Never resolves after the end of the session. */
  pause(): Promise<void>
}

type Rejected = Record<string, string>
/** The gateway was killed between the request and its answer. */
const stoppedReason = 'The gateway stopped before an answer came.'

export class ConfigChanges {
  readonly #ports: ConfigPorts
  #running: Promise<unknown> = Promise.resolve()
  #newest = 0

  constructor(ports: ConfigPorts) {
    this.#ports = ports
  }

  /**
   * Resolves with the rejected keys when the source has everything that changed here. While the source cannot be reached the promise stays
   * open: the server then still has the version as not delivered.
   */
  apply(desired: AgentSettings): Promise<Rejected | undefined> {
    const turn = ++this.#newest
    const result = this.#running.then(() => this.#apply(desired, () => turn !== this.#newest))
    this.#running = result.catch(() => {})
    // The agent that waits for a version that was replaced is gone.
    return result.then((rejected) => rejected ?? new Promise<never>(() => {})).then(orNothing)
  }

  /** Resolves with undefined if a newer version has come before everything was sent. */
  async #apply(desired: AgentSettings, isReplaced: () => boolean): Promise<Rejected | undefined> {
    const rejected: Rejected = {}
    let memory = this.#ports.load() ?? nothingSent
    let lostReason = stoppedReason
    while (!isReplaced()) {
      const settled = memory.sending ? await this.#settle(memory, memory.sending, lostReason) : memory
      // A key that is unset, or set to another value, starts afresh.
      const unknown = pick(settled.unknown ?? {}, (key, { value }) => isSame(key, value, desired[key]))
      for (const [key, { reason }] of Object.entries(unknown)) rejected[key] = `${notKnown}: ${reason} ${notRepeated}`
      const accepted = pick(settled.accepted, (key) => Object.hasOwn(desired, key) && !Object.hasOwn(rejected, key))
      const changes = pick(desired, (key, value) => !Object.hasOwn(rejected, key) && !isSame(key, accepted[key], value))
      const kept = Object.keys(unknown).length > 0 ? { accepted, unknown } : { accepted }
      if (Object.keys(changes).length === 0) {
        await this.#saveIfChanged(kept)
        return rejected
      }
      const sending = mapValues(changes, stored)
      memory = { ...kept, sending }
      await this.#ports.save(memory)
      const outcome = await this.#ports.send(changes)
      if (outcome.kind === 'unknown') lostReason = outcome.reason
      else if (outcome.kind === 'accepted') memory = { ...kept, accepted: { ...accepted, ...sending } }
      else memory = { ...kept, accepted: pick(accepted, (key) => !Object.hasOwn(changes, key)) }
      await this.#saveIfChanged(memory)
      if (outcome.kind === 'refused') {
        const named = outcome.keys.filter((key) => Object.hasOwn(changes, key))
        for (const key of named.length > 0 ? named : Object.keys(changes)) rejected[key] = outcome.reason
      } else if (outcome.kind !== 'accepted') await this.#ports.pause()
    }
    return undefined
  }

  async #saveIfChanged(memory: ConfigMemory): Promise<void> {
    if (!isDeepStrictEqual(this.#ports.load() ?? nothingSent, memory)) await this.#ports.save(memory)
  }

  /** Finds out by reading what became of a request without an answer. Passwords cannot be read. */
  async #settle({ accepted, unknown }: ConfigMemory, sending: AgentSettings, reason: string): Promise<ConfigMemory> {
    let present = await this.#ports.read()
    while (!present) {
      await this.#ports.pause()
      present = await this.#ports.read()
    }
    const there = present
    const arrived = pick(sending, (key, value) => there[key] === value)
    const lost = pick(sending, (key) => !Object.hasOwn(arrived, key))
    return {
      accepted: { ...pick(accepted, (key) => !Object.hasOwn(sending, key)), ...arrived },
      unknown: { ...unknown, ...mapValues(lost, (_, value) => ({ value, reason })) },
    }
  }
}

const notRepeated = 'It is not sent again: set another value, or unset it first.'
const nothingSent: ConfigMemory = { accepted: {} }
const orNothing = (rejected: Rejected): Rejected | undefined =>
  Object.keys(rejected).length > 0 ? rejected : undefined

const pick = <T>(values: Readonly<Record<string, T>>, isWanted: (key: string, value: T) => boolean) =>
  Object.fromEntries(Object.entries(values).filter(([key, value]) => isWanted(key, value)))
const mapValues = <T>(settings: AgentSettings, of: (key: string, value: AgentSettings[string]) => T) =>
  Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, of(key, value)]))

/** A value as it is remembered: of a password only a salted hash. */
const stored = (key: string, value: AgentSettings[string]): AgentSettings[string] =>
  configKeys[key]?.secret ? hashOf(String(value), randomBytes(16).toString('hex')) : value

function isSame(
  key: string,
  remembered: AgentSettings[string] | undefined,
  value: AgentSettings[string] | undefined,
): boolean {
  if (!configKeys[key]?.secret || remembered === undefined || value === undefined) return remembered === value
  const [salt = ''] = String(remembered).split(':')
  return hashOf(String(value), salt) === remembered
}

const hashOf = (value: string, salt: string): string => `${salt}:${scryptSync(value, salt, 32).toString('hex')}`
