// Sends the settings that were changed here, and no others: what is changed at the source stays until a person sets that key here.
import { randomBytes, scryptSync } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { configKeys } from '../../../contract/device/config-keys.ts'
import type { AgentSettings } from '../../../device/handlers.ts'

/** Survives a restart of the gateway. Passwords are in it as hashes. */
export interface ConfigMemory {
  /** The desired values that the source has accepted. A key that it refused is not among them. */
  readonly accepted: AgentSettings
  /** The values of a request whose outcome is not known yet. */
  readonly sending?: AgentSettings | undefined
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
/** A request whose answer was lost is sent again only if the settings are not there, and at most this often. */
const maxUnknown = 3

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
    let lastReason = ''
    for (let unknownCount = 0; !isReplaced(); ) {
      const settled = memory.sending ? await this.#settle(memory.accepted, memory.sending) : memory.accepted
      const accepted = pick(settled, (key) => Object.hasOwn(desired, key) && !Object.hasOwn(rejected, key))
      const changes = pick(desired, (key, value) => !Object.hasOwn(rejected, key) && !isSame(key, accepted[key], value))
      if (unknownCount >= maxUnknown)
        for (const key of Object.keys(changes))
          rejected[key] = `It is not known whether the setting was sent: ${lastReason}`
      if (Object.keys(changes).every((key) => Object.hasOwn(rejected, key))) {
        await this.#saveIfChanged({ accepted })
        return rejected
      }
      const sending = mapValues(changes, stored)
      memory = { accepted, sending }
      await this.#ports.save(memory)
      const outcome = await this.#ports.send(changes)
      if (outcome.kind === 'accepted') memory = { accepted: { ...accepted, ...sending } }
      else if (outcome.kind !== 'unknown') memory = { accepted: pick(accepted, (key) => !Object.hasOwn(changes, key)) }
      await this.#saveIfChanged(memory)
      if (outcome.kind === 'refused') {
        const named = outcome.keys.filter((key) => Object.hasOwn(changes, key))
        for (const key of named.length > 0 ? named : Object.keys(changes)) rejected[key] = outcome.reason
      } else if (outcome.kind !== 'accepted') {
        if (outcome.kind === 'unknown') [unknownCount, lastReason] = [unknownCount + 1, outcome.reason]
        await this.#ports.pause()
      }
    }
    return undefined
  }

  async #saveIfChanged(memory: ConfigMemory): Promise<void> {
    if (!isDeepStrictEqual(this.#ports.load() ?? nothingSent, memory)) await this.#ports.save(memory)
  }

  /** Finds out what became of a request without an answer, by reading. Passwords cannot be read, and are sent again. */
  async #settle(accepted: AgentSettings, sending: AgentSettings): Promise<AgentSettings> {
    let present = await this.#ports.read()
    while (!present) {
      await this.#ports.pause()
      present = await this.#ports.read()
    }
    const there = present
    const untouched = pick(accepted, (key) => !Object.hasOwn(sending, key))
    return { ...untouched, ...pick(sending, (key, value) => there[key] === value) }
  }
}

const nothingSent: ConfigMemory = { accepted: {} }
const orNothing = (rejected: Rejected): Rejected | undefined =>
  Object.keys(rejected).length > 0 ? rejected : undefined

const pick = (settings: AgentSettings, isWanted: (key: string, value: AgentSettings[string]) => boolean) =>
  Object.fromEntries(Object.entries(settings).filter(([key, value]) => isWanted(key, value)))
const mapValues = (
  settings: AgentSettings,
  of: (key: string, value: AgentSettings[string]) => string | number | boolean,
) => Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, of(key, value)]))

/** A value as it is remembered: of a password only a salted hash. */
const stored = (key: string, value: AgentSettings[string]): AgentSettings[string] =>
  configKeys[key]?.secret ? hashOf(String(value), randomBytes(16).toString('hex')) : value

function isSame(key: string, remembered: AgentSettings[string] | undefined, value: AgentSettings[string]): boolean {
  if (!configKeys[key]?.secret || remembered === undefined) return remembered === value
  const [salt = ''] = String(remembered).split(':')
  return hashOf(String(value), salt) === remembered
}

const hashOf = (value: string, salt: string): string => `${salt}:${scryptSync(value, salt, 32).toString('hex')}`
