// One device at a broker: its channels, their latest values, and whether it can be heard.
import { type Sensor, sensors } from '../../../contract/device/models.ts'
import { hourMs, minuteMs, secondMs } from '../../../contract/durations.ts'
import type { FoundDevice, MappedValue } from '../../../contract/fleet/sources.ts'
import { quantityOf } from '../../../sensor-mapping/quantity.ts'
import { type Evaluated, numberOf, renderedText, shownText } from '../../../sensor-mapping/template.ts'
import { type Announcement, type DeviceDescription, type SensorChannel, unknownModel } from './announcement.ts'
import { EntityAvailability } from './availability.ts'
import { type MqttLimits, maxChannelsPerDevice, maxLastMessageCharacters } from './limits.ts'

/** When a value was measured, and whether the message was retained: then its age is not known. */
export interface HeardAt {
  readonly atMs: number
  readonly isRetained: boolean
}

export interface SensorValue extends HeardAt {
  readonly value: number
  /** An occupied state ends so long after its message, if nothing else is said. */
  readonly offDelayMs?: number | undefined
  /** The value holds for so long. */
  readonly expireAfterMs?: number | undefined
}

interface ChannelState {
  readonly channel: SensorChannel
  readonly availability: EntityAvailability | undefined
  latest: SensorValue | undefined
}

/** A device as it is kept over a restart of the gateway, or an outage of its broker. */
export interface RememberedDevice {
  readonly description: DeviceDescription
  readonly sensors: readonly Sensor[]
  readonly isPresence: boolean
  readonly heardAtMs: number
  readonly values: Readonly<Partial<Record<Sensor, SensorValue>>>
}

const maxNotUnderstood = 16
const maxReadings = 16

export class SensorDevice {
  readonly key: string
  readonly #limits: MqttLimits
  /** By the message that announced them: a topic of discovery, or a mapping. */
  readonly #parts = new Map<string, Announcement>()
  readonly #channels = new Map<string, ChannelState>()
  #remembered: RememberedDevice | undefined
  /** Sensors that a message was about: what is remembered of them no longer holds. */
  readonly #heardSensors = new Set<Sensor>()
  #description: DeviceDescription
  /** When the device itself was heard last; retained messages do not count. */
  #heardAtMs: number | undefined
  readonly #knownSinceMs: number
  #lastMessage: { readonly topic: string; readonly text: string } | undefined
  #refusedCount = 0
  #lastRefusal = ''
  #mappingProblems: readonly string[] = []
  /** When its last entity vanished. */
  vanishedAtMs: number | undefined
  /** Whether something changed that `found` should report soon, or later. */
  changed: 'soon' | 'later' | undefined = 'soon'
  reportedAtMs = Number.NEGATIVE_INFINITY

  constructor(description: DeviceDescription, limits: MqttLimits, nowMs: number) {
    this.key = description.key
    this.#description = description
    this.#limits = limits
    this.#knownSinceMs = nowMs
  }

  static remembered(remembered: RememberedDevice, limits: MqttLimits, nowMs: number): SensorDevice {
    const device = new SensorDevice(remembered.description, limits, nowMs)
    device.recall(remembered)
    device.#heardAtMs = remembered.heardAtMs
    device.changed = undefined
    return device
  }

  /** Takes the values from before a restart or an outage; they hold until the sensor says something else. */
  recall(remembered: RememberedDevice): void {
    this.#remembered ??= remembered
  }

  get description(): DeviceDescription {
    return this.#description
  }

  get isAnnounced(): boolean {
    return this.#parts.size > 0
  }

  get channels(): readonly SensorChannel[] {
    return [...this.#channels.values()].map(({ channel }) => channel)
  }

  get refusedCount(): number {
    return this.#refusedCount
  }

  get notUnderstoodCount(): number {
    return [...this.#parts.values()].reduce((sum, { notUnderstood }) => sum + notUnderstood.length, 0)
  }

  /** Whether a person would want to see it: it has one of our sensors, or would have with another template or mapping. */
  get isSensor(): boolean {
    if (this.vanishedAtMs !== undefined) return this.reportedAtMs !== Number.NEGATIVE_INFINITY
    const { format } = this.#description
    const isUplink = format === 'things-stack' || format === 'chirpstack' || format === 'json'
    return isUplink || this.sensors.length > 0 || this.notUnderstoodCount > 0
  }

  /** Sets the channels that a message announces, in place of those that it announced before. Values of the same channels stay. */
  announce(part: string, announcement: Announcement): void {
    const before = new Set(this.#parts.get(part)?.channels.map(({ id }) => id))
    this.#parts.set(part, announcement)
    // Some publishers describe the device in one of its messages only.
    const { model } = announcement.device
    const known = model === unknownModel ? { model: this.#description.model } : {}
    this.#description = { ...this.#description, ...withoutUndefined(announcement.device), ...known }
    for (const channel of announcement.channels) {
      before.delete(channel.id)
      if (!this.#channels.has(channel.id) && this.#channels.size >= maxChannelsPerDevice) continue
      this.#channels.set(channel.id, {
        channel,
        availability: channel.availability && this.#availabilityFor(channel.availability),
        latest: this.#channels.get(channel.id)?.latest,
      })
    }
    for (const id of before) this.#channels.delete(id)
    this.vanishedAtMs = undefined
    this.changed = 'soon'
  }

  /** The message was taken back: an empty one came in its place. */
  withdraw(part: string, nowMs: number): void {
    const announcement = this.#parts.get(part)
    if (!announcement) return
    this.#parts.delete(part)
    for (const { id } of announcement.channels) this.#channels.delete(id)
    if (this.#parts.size === 0) this.vanishedAtMs = nowMs
    else this.changed = 'soon'
  }

  /** One for all entities with the same settings: they hear the same messages. */
  #availabilityFor(settings: NonNullable<SensorChannel['availability']>): EntityAvailability {
    const text = JSON.stringify(settings)
    const same = [...this.#channels.values()].find(
      ({ availability }) => availability && JSON.stringify(availability.settings) === text,
    )
    return same?.availability ?? new EntityAvailability(settings)
  }

  availabilities(): readonly EntityAvailability[] {
    return [...new Set([...this.#channels.values()].flatMap(({ availability }) => availability ?? []))]
  }

  /** Takes a message of the device, whatever is in it. */
  hear(topic: string, payload: Buffer, { atMs, isRetained }: HeardAt): void {
    if (!isRetained) {
      this.#heardAtMs = Math.max(this.#heardAtMs ?? 0, atMs)
      this.#remembered &&= { ...this.#remembered, heardAtMs: this.#heardAtMs }
    }
    const text = payload.toString('utf8', 0, maxLastMessageCharacters)
    this.#lastMessage = { topic, text }
    this.changed ??= 'later'
  }

  /** Takes what the template of a channel found. Returns the sensor's value if there is a new one. */
  take(id: string, found: Evaluated, heard: HeardAt): { sensor: Sensor; value: number } | undefined {
    const state = this.#channels.get(id)
    if (!state || found.kind === 'absent') return undefined
    if (found.kind === 'refused') return this.#refuse(state.channel, found.because)
    const { channel } = state
    const raw = channel.onOff ? onOffOf(channel.onOff, found.value) : found.value
    if (raw === undefined)
      return this.#refuse(channel, `Neither on nor off: ${shownText(renderedText(found.value), 40)}`)
    if (channel.meaning.kind === 'reading') {
      const value = numberOf(typeof raw === 'boolean' ? undefined : raw)
      if (value !== undefined) state.latest = { value, ...heard }
      return undefined
    }
    const quantity = quantityOf(channel.meaning.sensor, raw, channel.unit)
    if (quantity.kind === 'refused') return this.#refuse(channel, quantity.because)
    this.#heardSensors.add(sensorOf(channel.meaning.sensor))
    if (quantity.kind === 'absent') {
      state.latest = undefined
      return undefined
    }
    return this.#setValue(state, channel.meaning.sensor, { value: quantity.value, ...heard })
  }

  #setValue(
    state: ChannelState,
    mapped: MappedValue,
    latest: SensorValue,
  ): { sensor: Sensor; value: number } | undefined {
    // A message that was late does not replace a newer one, and a retained one, which has no age, replaces none that was heard live.
    const { latest: before } = state
    if (before && (before.atMs > latest.atMs || (latest.isRetained && !before.isRetained))) return undefined
    state.latest = latest
    const sensor = sensorOf(mapped)
    if (this.#primary(sensor).includes(state)) {
      const value = this.values(latest.atMs)[sensor]?.value
      return value === undefined ? undefined : { sensor, value }
    }
    return undefined
  }

  noteProblems(problems: readonly string[]): void {
    if (problems.join() !== this.#mappingProblems.join()) this.changed ??= 'later'
    this.#mappingProblems = problems
  }

  refuse(because: string): void {
    this.#refusedCount++
    this.#lastRefusal = because
    this.changed ??= 'later'
  }

  #refuse({ meaning, id }: SensorChannel, because: string): undefined {
    if (meaning.kind === 'reading') return undefined
    this.refuse(`${meaning.sensor} (${id.split(/[/ ]/).at(-1)}): ${because}`)
    return undefined
  }

  /** The channels from which a sensor is read. A count of people is better than presence; several presence sensors are read together. */
  #primary(sensor: Sensor): readonly ChannelState[] {
    const all = [...this.#channels.values()].filter(
      ({ channel: { meaning } }) => meaning.kind === 'sensor' && sensorOf(meaning.sensor) === sensor,
    )
    if (sensor === 'people') {
      const counts = all.filter(({ channel: { meaning } }) => meaning.kind === 'sensor' && meaning.sensor === 'people')
      return counts.length > 0 ? counts.slice(0, 1) : all
    }
    return all.toSorted((a, b) => a.channel.rank - b.channel.rank || (a.channel.id < b.channel.id ? -1 : 1)).slice(0, 1)
  }

  get sensors(): readonly Sensor[] {
    if (!this.isAnnounced && this.#remembered) return this.#remembered.sensors
    return sensors.filter((sensor) => this.#primary(sensor).length > 0)
  }

  get isPresence(): boolean {
    if (!this.isAnnounced && this.#remembered) return this.#remembered.isPresence
    const people = this.#primary('people')
    return people.some(({ channel: { meaning } }) => meaning.kind === 'sensor' && meaning.sensor === 'presence')
  }

  /** The values that hold now. Those from before a restart hold for an hour: a message could have been missed. */
  values(nowMs: number): Partial<Record<Sensor, SensorValue>> {
    const values: Partial<Record<Sensor, SensorValue>> = {}
    for (const sensor of this.sensors) {
      const current = this.#primary(sensor).flatMap((state) => this.#currentValue(state, nowMs) ?? [])
      const newest = current.toSorted((a, b) => b.value - a.value || b.atMs - a.atMs)[0]
      const value = newest ?? this.#rememberedValue(sensor, nowMs)
      if (value) values[sensor] = value
    }
    return values
  }

  #currentValue({ channel, availability, latest }: ChannelState, nowMs: number): SensorValue | undefined {
    if (!latest || availability?.isAvailable === false) return undefined
    const { offDelayMs, expireAfterMs } = channel
    return heldValue({ ...latest, offDelayMs, expireAfterMs }, nowMs)
  }

  #rememberedValue(sensor: Sensor, nowMs: number): SensorValue | undefined {
    const before = this.#remembered?.values[sensor]
    if (!before || this.#heardSensors.has(sensor) || nowMs - before.atMs >= hourMs) return undefined
    const channels = this.#primary(sensor)
    const isUnavailable =
      channels.length > 0 && channels.every(({ availability }) => availability?.isAvailable === false)
    return isUnavailable ? undefined : heldValue(before, nowMs)
  }

  /** Undefined while the device can be heard. */
  offlineBecause(nowMs: number, isShared: (topic: string) => boolean): string | undefined {
    if (this.vanishedAtMs !== undefined) return 'The broker no longer announces this sensor.'
    const relevant = this.#relevant()
    const reasons = relevant.map((state) => this.#downBecause(state, nowMs))
    if (relevant.length > 0 && reasons.every((reason) => reason !== undefined)) return reasons[0]
    // A topic that devices share says that their bridge is there.
    const speaksForItself = relevant.some(
      ({ channel, availability, latest }, i) =>
        reasons[i] === undefined &&
        ((channel.expireAfterMs !== undefined && latest !== undefined) ||
          (availability?.isAvailable === true && availability.settings.topics.some(({ topic }) => !isShared(topic)))),
    )
    if (speaksForItself) return undefined
    const silentMs = nowMs - (this.#heardAtMs ?? this.#knownSinceMs)
    if (silentMs < this.#limits.silentAfterMs) return undefined
    return `Nothing has been heard from this sensor for ${durationText(silentMs)}.`
  }

  /** Whether a publisher says that the sensor is available now: then a retained value holds. */
  get isKnownAvailable(): boolean {
    return this.#relevant().some(({ availability }) => availability?.isAvailable === true)
  }

  #relevant(): readonly ChannelState[] {
    const all = [...this.#channels.values()]
    const ours = all.filter(({ channel }) => channel.meaning.kind === 'sensor')
    return ours.length > 0 ? ours : all
  }

  #downBecause({ channel, availability, latest }: ChannelState, nowMs: number): string | undefined {
    if (availability?.isAvailable === false) {
      const topic = availability.unavailableTopic
      return `Its publisher says that it is offline${topic === undefined ? '' : ` (${shownText(topic, 100)})`}.`
    }
    if (latest && isExpired(channel, latest, nowMs)) {
      return `It has sent no value for ${durationText(nowMs - latest.atMs)}, and is expected to send one every ${durationText(channel.expireAfterMs ?? 0)}.`
    }
    return undefined
  }

  /** The latest values that no field has. */
  readings(): { readonly name: string; readonly value: number; readonly unit: string }[] {
    const byName = new Map<string, { name: string; value: number; unit: string }>()
    for (const { channel, latest, availability } of this.#channels.values()) {
      if (channel.meaning.kind !== 'reading' || !latest || availability?.isAvailable === false) continue
      const { name } = channel.meaning
      if (byName.size >= maxReadings || byName.has(name)) continue
      byName.set(name, { name, value: latest.value, unit: shownText(channel.unit ?? '', 16) })
    }
    return [...byName.values()]
  }

  /** For the server's list of devices. */
  found(nowMs: number): FoundDevice {
    const { key, format, model, name, manufacturer, serial, mapping } = this.#description
    const values = this.values(nowMs)
    const entries = Object.entries(values)
    const live = entries.filter(([, { isRetained }]) => !isRetained).map(([, { atMs }]) => atMs)
    const refusals =
      this.#refusedCount === 0 ? [] : [`${this.#refusedCount} values were refused. The last one: ${this.#lastRefusal}`]
    const all = [...this.#parts.values()].flatMap(({ notUnderstood }) => notUnderstood)
    const notUnderstood = [...refusals, ...this.#mappingProblems, ...all].map((text) => shownText(text, 255))
    return withoutUndefined({
      key,
      format,
      model,
      name,
      manufacturer,
      serial,
      mapping,
      sensors: [...this.sensors],
      values:
        entries.length === 0 ? undefined : Object.fromEntries(entries.map(([sensor, { value }]) => [sensor, value])),
      measuredAt: live.length === 0 ? undefined : new Date(Math.max(...live)).toISOString(),
      topic: shownText(this.#lastMessage?.topic ?? '', 255) || undefined,
      lastMessage: this.#lastMessage && shownPayload(this.#lastMessage.text),
      notUnderstood: notUnderstood.length === 0 ? undefined : notUnderstood.slice(0, maxNotUnderstood),
      isMissing: this.vanishedAtMs === undefined ? undefined : true,
    }) as FoundDevice
  }

  remember(nowMs: number): RememberedDevice {
    const heardAtMs = this.#heardAtMs ?? this.#knownSinceMs
    return {
      description: this.#description,
      sensors: this.sensors,
      isPresence: this.isPresence,
      heardAtMs,
      values: this.values(nowMs),
    }
  }
}

const sensorOf = (mapped: MappedValue): Sensor => (mapped === 'presence' ? 'people' : mapped)

/** Undefined if the value has expired. An occupied state ends by itself after its delay. */
function heldValue(latest: SensorValue, nowMs: number): SensorValue | undefined {
  const { atMs, offDelayMs } = latest
  if (isExpired(latest, latest, nowMs)) return undefined
  return offDelayMs !== undefined && nowMs - atMs >= offDelayMs ? { ...latest, value: 0 } : latest
}

const isExpired = (
  { expireAfterMs }: Pick<SensorValue, 'expireAfterMs'>,
  { atMs }: SensorValue,
  nowMs: number,
): boolean => expireAfterMs !== undefined && nowMs - atMs >= expireAfterMs

const onOffOf = (
  { on, off }: { readonly on: string; readonly off: string },
  value: string | number | boolean,
): boolean | string | undefined => {
  const text = renderedText(value)
  if (text === on) return true
  if (text === off) return false
  // Home Assistant's own words for a state that is not known.
  return /^(?:none|unknown|unavailable|)$/i.test(text) ? '' : undefined
}

/** Control characters would not be stored; line ends are. */
const shownPayload = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[^\P{Cc}\n\r\t]/gu, '\u{fffd}')
    .slice(0, maxLastMessageCharacters)
    .toWellFormed()

export const withoutUndefined = <T extends object>(object: T): T =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T

function durationText(ms: number): string {
  if (ms >= 2 * hourMs) return `${Math.floor(ms / hourMs)} hours`
  if (ms >= 2 * minuteMs) return `${Math.floor(ms / minuteMs)} minutes`
  return `${Math.max(1, Math.floor(ms / secondMs))} s`
}
