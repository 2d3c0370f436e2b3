// A session with a broker: finds the sensors that are announced there, reads their messages, and lends a session to each adopted one.
import { EventEmitter } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Sensor } from '../../../contract/device/models.ts'
import { dayMs, minuteMs } from '../../../contract/durations.ts'
import { isJsonObject, textKeyOf } from '../../../sensor-mapping/limited-json.ts'
import {
  type MappedMessage,
  matches,
  problemsOf,
  type ReadableMapping,
  readableMapping,
  readMapped,
} from '../../../sensor-mapping/mapping.ts'
import { evaluate, shownText, TemplateInput } from '../../../sensor-mapping/template.ts'
import { type Uplink, uplinkOf } from '../../../sensor-mapping/uplink.ts'
import { type DeviceCertificate, DriverFailure, type DriverSession } from '../../driver.ts'
import type { SourceContext, SourceDeviceContext, SourceEvents, SourceSession, SourceSettings } from '../source.ts'
import { type Announcement, type DeviceDescription, lineOf, type SensorChannel } from './announcement.ts'
import type { BrokerConnection, BrokerMessage } from './broker-connection.ts'
import { type MqttLimits, maxTopicCharacters } from './limits.ts'
import { airGradientFilter, airGradientTopic, readAirGradient } from './publishers/airgradient.ts'
import { isDiscoveryTopic, keyFor, readDiscovery } from './publishers/home-assistant.ts'
import { ShellyDevices, shellyFilters, shellyTopic } from './publishers/shelly.ts'
import { TasmotaDevices, tasmotaFilters, tasmotaTopic } from './publishers/tasmota.ts'
import { type HeardAt, type RememberedDevice, SensorDevice } from './sensor-device.ts'
import { SensorSession } from './sensor-session.ts'
import { isTopicFilter, TopicTree } from './topic-tree.ts'

const homeAssistantFilters = ['homeassistant/+/+/config', 'homeassistant/+/+/+/config'] as const
const uplinkFilters = ['v3/+/devices/+/up', 'application/+/device/+/event/up'] as const
const thingsStackTopic = /^v3\/[^/]+\/devices\/[^/]+\/up$/
const chirpStackTopic = /^application\/[^/]+\/device\/[^/]+\/event\/up$/
const usualFilters = [...homeAssistantFilters, ...tasmotaFilters, ...shellyFilters, airGradientFilter, ...uplinkFilters]

/** Uplinks come again after a retry; this many are remembered. */
const maxUplinkIds = 10_000
/** The clock of a device or of its server can be ahead. */
const maxAheadMs = 5 * minuteMs

type Handler = (input: TemplateInput, message: BrokerMessage, heard: HeardAt) => void
interface Part {
  readonly key: string
  /** The announcement as text: most are repeated without a change. */
  readonly text: string
  /** Ends what the announcement subscribed to. */
  readonly leave: () => void
}

export class BrokerSession extends EventEmitter<SourceEvents> implements SourceSession {
  readonly #broker: BrokerConnection
  readonly #limits: MqttLimits
  readonly #context: SourceContext
  readonly #devices = new Map<string, SensorDevice>()
  readonly #sessions = new Map<string, Set<SensorSession>>()
  readonly #handlers = new TopicTree<Handler>()
  readonly #parts = new Map<string, Part>()
  /** How many devices have an availability topic. */
  readonly #availabilityTopics = new Map<string, Set<string>>()
  readonly #tasmota: TasmotaDevices
  readonly #shelly: ShellyDevices
  readonly #mappings: readonly ReadableMapping[]
  readonly #jsonMappings = new TopicTree<ReadableMapping>()
  readonly #uplinkIds = new Set<string>()
  /** The values of the present message, by session: they go up as one sample. */
  #measured = new Map<SensorDevice, Partial<Record<Sensor, number>>>()
  readonly #toSubscribe = new Set<string>()
  #isSubscribing = false
  #timer: NodeJS.Timeout | undefined
  #reportAtMs: number | undefined
  #reportedCount = -1
  #leftOutCount = 0
  #lastRetainedMs = performance.now()
  #isClosed = false

  constructor(broker: BrokerConnection, settings: SourceSettings, context: SourceContext, limits: MqttLimits) {
    super()
    this.#broker = broker
    this.#limits = limits
    this.#context = context
    this.#tasmota = new TasmotaDevices(limits.maxDevices)
    this.#shelly = new ShellyDevices(limits.maxDevices)
    this.#mappings = (settings.mappings ?? []).map(readableMapping)
    for (const readable of this.#mappings) {
      const { format, topic } = readable.mapping
      if (format === 'json' && topic !== undefined && isTopicFilter(topic, maxTopicCharacters))
        this.#jsonMappings.add(topic, readable)
    }
    broker.on('message', (message) => this.#take(message))
    broker.on('ended', (failure) => {
      this.close()
      this.emit('ended', failure)
    })
    context.signal.addEventListener('abort', () => this.close(), { once: true })
  }

  get certificate(): DeviceCertificate | undefined {
    return this.#broker.certificate
  }

  /** Subscribes, and resolves when the retained messages have come. */
  async start(topics: readonly string[] | undefined): Promise<void> {
    const chosen = topics && topics.length > 0 ? topics : usualFilters
    const ofMappings = this.#mappings.flatMap(({ mapping: { format, topic } }) =>
      format === 'json' && topic !== undefined ? [topic] : [],
    )
    const filters = [...new Set([...chosen, ...ofMappings])].filter((topic) => isTopicFilter(topic, maxTopicCharacters))
    await this.#broker.subscribe(filters)
    const untilMs = performance.now() + this.#limits.settleAtMostMs
    this.#lastRetainedMs = performance.now()
    while (performance.now() < untilMs && !this.#isClosed) {
      const quietMs = performance.now() - this.#lastRetainedMs
      if (quietMs >= this.#limits.settleMs && !this.#isSubscribing) break
      await pause(Math.min(50, this.#limits.settleMs), undefined, { signal: this.#context.signal })
    }
    if (this.#isClosed) return
    this.#timer = setInterval(() => this.#tick(), this.#limits.tickMs)
    // The first report comes with the first tick.
    this.#reportAtMs = Date.now()
  }

  summary() {
    const devices = [...this.#devices.values()].filter((device) => device.isSensor && device.vanishedAtMs === undefined)
    return { content: { devices: devices.length }, notes: this.#notes(devices) }
  }

  async openDevice(key: string, { memory }: SourceDeviceContext): Promise<DriverSession> {
    const remembered = rememberedFor(key, memory.load())
    const device = this.#devices.get(key) ?? (remembered && this.#rememberedDevice(remembered))
    if (remembered) device?.recall(remembered)
    if (!device?.isSensor)
      throw new DriverFailure(
        'UNREACHABLE',
        'Nothing has been heard from this sensor since the gateway connected to its broker.',
      )
    const session: SensorSession = new SensorSession({
      device,
      memory,
      limits: this.#limits,
      isShared: this.#isShared,
      nowMs: Date.now,
      log: this.#context.log,
      onClosed: () => {
        const open = this.#sessions.get(key)
        open?.delete(session)
        if (open?.size === 0) this.#sessions.delete(key)
      },
    })
    this.#sessions.set(key, (this.#sessions.get(key) ?? new Set()).add(session))
    return session
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#broker.close()
  }

  /** A sensor that was heard before speaks again later: after a restart it must not look lost until then. */
  #rememberedDevice(remembered: RememberedDevice): SensorDevice | undefined {
    if (this.#devices.size >= this.#limits.maxDevices) return undefined
    const device = SensorDevice.remembered(remembered, this.#limits, Date.now())
    this.#devices.set(device.key, device)
    return device
  }

  readonly #isShared = (topic: string): boolean => (this.#availabilityTopics.get(topic)?.size ?? 0) > 1

  #take(message: BrokerMessage): void {
    if (message.isRetained) this.#lastRetainedMs = performance.now()
    try {
      this.#read(message)
    } catch (error) {
      // A message must not end the session: the broker would send it again.
      this.#context.log(`a message to ${shownText(message.topic, 100)} could not be read: ${(error as Error).message}`)
    }
  }

  #read(message: BrokerMessage): void {
    const { topic, payload, isRetained } = message
    const heard = { atMs: Date.now(), isRetained }
    const input = new TemplateInput({ topic, payload: payload.toString() })
    this.#discover(topic, input, message, heard)
    for (const handler of this.#handlers.match(topic)) handler(input, message, heard)
    const measured = this.#measured
    if (measured.size === 0) return
    this.#measured = new Map()
    for (const [device, values] of measured)
      for (const session of this.#sessions.get(device.key) ?? [])
        if (!isRetained || device.isKnownAvailable) session.measured(values, heard.atMs)
  }

  #discover(topic: string, input: TemplateInput, message: BrokerMessage, heard: HeardAt): void {
    const { payload } = input
    if (isDiscoveryTopic(topic)) this.#announce(topic, payload === '' ? undefined : readDiscovery(topic, payload))
    const [, mac, part] = tasmotaTopic.exec(topic) ?? []
    if (mac !== undefined && part !== undefined)
      this.#announce(`tasmota ${mac}`, this.#tasmota.take(mac, part, payload))
    if (airGradientTopic.test(topic)) {
      const announcement = readAirGradient(topic, payload)
      if (announcement) this.#announce(topic, announcement, { isCovered: true })
    }
    if (shellyTopic.test(topic)) {
      const announcement = this.#shelly.take(topic, payload)
      if (announcement) this.#announce(announcement.device.key, announcement, { isCovered: true })
    }
    if (thingsStackTopic.test(topic)) this.#takeUplink('things-stack', input, message, heard)
    else if (chirpStackTopic.test(topic)) this.#takeUplink('chirpstack', input, message, heard)
    for (const mapping of this.#jsonMappings.match(topic)) this.#takeJson(mapping, input, message, heard)
  }

  /** Takes a message that announces a part of a device, or takes it back. */
  #announce(part: string, announcement: Announcement | undefined, { isCovered = false } = {}): void {
    const before = this.#parts.get(part)
    if (!announcement || before?.key !== announcement.device.key) {
      before?.leave()
      this.#parts.delete(part)
      if (before) this.#withdraw(before.key, part)
    }
    if (!announcement) return
    const text = JSON.stringify(announcement)
    if (text === before?.text && this.#parts.has(part)) return
    const device = this.#deviceFor(announcement.device)
    if (!device) return
    this.#parts.get(part)?.leave()
    device.announce(part, announcement)
    const known = new Set(device.channels.map(({ id }) => id))
    const channels = announcement.channels.filter(({ id }) => known.has(id))
    this.#parts.set(part, { key: device.key, text, leave: this.#listen(device, channels, isCovered) })
  }

  #withdraw(key: string, part: string): void {
    const device = this.#devices.get(key)
    device?.withdraw(part, Date.now())
  }

  #deviceFor(description: DeviceDescription): SensorDevice | undefined {
    const known = this.#devices.get(description.key)
    if (known) return known
    if (this.#devices.size >= this.#limits.maxDevices) {
      this.#leftOutCount++
      return undefined
    }
    const device = new SensorDevice(description, this.#limits, Date.now())
    this.#devices.set(description.key, device)
    return device
  }

  /** Returns the function that ends it. */
  #listen(device: SensorDevice, channels: readonly SensorChannel[], isCovered: boolean): () => void {
    const added: [string, Handler][] = []
    const add = (filter: string, handler: Handler) => {
      if (this.#handlers.size >= this.#limits.maxTopics) {
        this.#leftOutCount++
        return
      }
      added.push([filter, handler])
      this.#handlers.add(filter, handler)
      // Also a topic that is subscribed to already: the broker then sends its retained message again, for this handler.
      if (!isCovered) this.#subscribe(filter)
    }
    const inputs = Map.groupBy(
      channels.flatMap((channel) => channel.inputs.map((input) => ({ ...input, id: channel.id }))),
      ({ filter }) => filter,
    )
    for (const [filter, templates] of inputs) {
      add(filter, (input, { topic, payload }, heard) => {
        device.hear(topic, payload, heard)
        for (const { id, template } of templates) this.#note(device, device.take(id, evaluate(template, input), heard))
      })
    }
    const ids = new Set(channels.map(({ availability }) => JSON.stringify(availability?.topics)))
    for (const availability of device
      .availabilities()
      .filter(({ settings }) => ids.has(JSON.stringify(settings.topics)))) {
      availability.settings.topics.forEach(({ topic }, i) => {
        const keys = this.#availabilityTopics.get(topic) ?? new Set()
        this.#availabilityTopics.set(topic, keys.add(device.key))
        add(topic, (input) => {
          availability.take(i, input)
          device.changed ??= 'later'
        })
      })
    }
    return () => {
      const unused = added
        .filter(([filter, handler]) => this.#handlers.delete(filter, handler))
        .map(([filter]) => filter)
      if (isCovered) return
      for (const filter of unused) this.#toSubscribe.delete(filter)
      this.#broker.unsubscribe(unused)
    }
  }

  #note(device: SensorDevice, measured: { sensor: Sensor; value: number } | undefined): void {
    if (!measured) return
    const values = this.#measured.get(device) ?? {}
    values[measured.sensor] = measured.value
    this.#measured.set(device, values)
  }

  /** Discovery messages come in bursts; their topics are subscribed to together. */
  #subscribe(filter: string): void {
    this.#toSubscribe.add(filter)
    if (this.#isSubscribing) return
    this.#isSubscribing = true
    setImmediate(async () => {
      while (this.#toSubscribe.size > 0 && !this.#isClosed) {
        const filters = [...this.#toSubscribe]
        this.#toSubscribe.clear()
        await this.#broker.subscribe(filters)
        this.#lastRetainedMs = performance.now()
      }
      this.#isSubscribing = false
    })
  }

  #takeUplink(
    format: 'things-stack' | 'chirpstack',
    input: TemplateInput,
    message: BrokerMessage,
    heard: HeardAt,
  ): void {
    const uplink = uplinkOf(format, input.json)
    if (!uplink || uplink.isSimulated || this.#isKnownUplink(uplink)) return
    const readable = this.#mappingFor(format, uplink)
    const description: DeviceDescription = {
      key: keyFor(format, uplink.device),
      format,
      model: readable?.mapping.model ?? lineOf(uplink.profile, 64) ?? 'LoRaWAN device',
      name: lineOf(uplink.name, 100),
      serial: lineOf(uplink.eui, 64),
      mapping: readable?.mapping.model,
    }
    const problems = readable ? problemsOf(readable) : ['No mapping fits this device. Write one to read its values.']
    this.#takeMapped(description, readable, readable && readMapped(readable, input), problems, message, heard)
  }

  #takeJson(readable: ReadableMapping, input: TemplateInput, message: BrokerMessage, heard: HeardAt): void {
    const read = readMapped(readable, input)
    if (read.device === undefined) return
    const { model, topic } = readable.mapping
    const description: DeviceDescription = {
      key: keyFor('json', `${topic ?? ''} ${read.device}`),
      format: 'json',
      model,
      name:
        lineOf(isJsonObject(input.json) ? textKeyOf(input.json, 'name') : undefined, 100) ?? lineOf(read.device, 100),
      mapping: model,
    }
    this.#takeMapped(description, readable, read, problemsOf(readable), message, heard)
  }

  #mappingFor(format: 'things-stack' | 'chirpstack', { profile, name, device }: Uplink): ReadableMapping | undefined {
    const fitting = this.#mappings.filter(
      ({ mapping }) => mapping.format === format && matches(mapping, profile, name, device),
    )
    return fitting.find(({ mapping }) => mapping.match !== undefined) ?? fitting[0]
  }

  #isKnownUplink({ device, uplinkId }: Uplink): boolean {
    if (uplinkId === undefined) return false
    const id = `${device} ${uplinkId.slice(0, 100)}`
    if (this.#uplinkIds.has(id)) return true
    this.#uplinkIds.add(id)
    if (this.#uplinkIds.size > maxUplinkIds)
      for (const oldest of this.#uplinkIds) {
        this.#uplinkIds.delete(oldest)
        break
      }
    return false
  }

  #takeMapped(
    description: DeviceDescription,
    readable: ReadableMapping | undefined,
    read: MappedMessage | undefined,
    problems: readonly string[],
    { topic, payload, isRetained }: BrokerMessage,
    { atMs: arrivedAtMs }: HeardAt,
  ): void {
    const device = this.#deviceFor(description)
    if (!device) return
    const channels = (readable?.mapping.values ?? []).map(
      ({ sensor, template }, rank): SensorChannel => ({
        id: `${sensor} ${template}`,
        meaning: { kind: 'sensor', sensor },
        inputs: [],
        rank,
      }),
    )
    // The announcement is the same for each message of the device.
    if (!device.isAnnounced || device.description.mapping !== description.mapping)
      device.announce('mapping', { device: description, channels, notUnderstood: [] })
    const measuredAtMs = read?.measuredAtMs ?? arrivedAtMs
    const isAhead = measuredAtMs > arrivedAtMs + maxAheadMs
    const heard = { atMs: isAhead ? arrivedAtMs : Math.min(measuredAtMs, arrivedAtMs), isRetained }
    device.hear(topic, payload, { atMs: arrivedAtMs, isRetained })
    device.noteProblems([...problems, ...(read?.problems ?? [])])
    if (heard.atMs < arrivedAtMs - dayMs) {
      device.refuse('The measurement is more than a day old.')
      return
    }
    const values: Partial<Record<Sensor, number>> = {}
    read?.values.forEach(({ value, problem, text }, i) => {
      if (text !== undefined && problem !== undefined) device.refuse(problem)
      const measured =
        value === undefined ? undefined : device.take(channels[i]?.id ?? '', { kind: 'value', value }, heard)
      if (measured) values[measured.sensor] = measured.value
    })
    if (isRetained) return
    for (const session of this.#sessions.get(device.key) ?? []) session.measured(values, heard.atMs)
  }

  #tick(): void {
    if (this.#isClosed) return
    const now = Date.now()
    for (const sessions of this.#sessions.values()) for (const session of sessions) session.tick()
    let hasNews = false
    for (const [key, device] of this.#devices) {
      const { vanishedAtMs } = device
      if (
        vanishedAtMs !== undefined &&
        device.changed !== 'soon' &&
        now - vanishedAtMs >= this.#limits.vanishedAfterMs &&
        device.reportedAtMs <= vanishedAtMs + this.#limits.vanishedAfterMs
      ) {
        device.changed = 'soon'
      }
      const isDue = device.changed === 'later' && now - device.reportedAtMs >= this.#limits.valuesEveryMs
      if (isDue) device.changed = 'soon'
      hasNews ||= device.changed === 'soon'
      // A device that is not adopted, and that has been reported as missing, is forgotten.
      const isGone = vanishedAtMs !== undefined && device.changed === undefined && !this.#sessions.has(key)
      if (isGone && (device.reportedAtMs > vanishedAtMs || !device.isSensor)) this.#devices.delete(key)
      if (!device.isSensor) device.changed = undefined
    }
    if (hasNews) this.#reportAtMs ??= now + this.#limits.foundAfterMs
    if (this.#reportAtMs !== undefined && now >= this.#reportAtMs) this.#report(now)
  }

  #report(now: number): void {
    this.#reportAtMs = undefined
    const news = [...this.#devices.values()].filter(
      (device) =>
        device.changed === 'soon' &&
        device.isSensor &&
        (device.vanishedAtMs === undefined || now - device.vanishedAtMs >= this.#limits.vanishedAfterMs),
    )
    for (const device of news) {
      device.changed = undefined
      device.reportedAtMs = now
    }
    if (news.length > 0)
      this.emit(
        'found',
        news.map((device) => device.found(now)),
      )
    const { devices } = this.summary().content
    if (devices === this.#reportedCount) return
    this.#reportedCount = devices
    this.emit('content', { devices })
  }

  #notes(devices: readonly SensorDevice[]): string[] {
    const { refusedTopicCount, refusedTopics, skippedCount, largestSkippedBytes } = this.#broker
    const refusedValues = devices.reduce((sum, { refusedCount }) => sum + refusedCount, 0)
    const notUnderstood = devices.reduce((sum, { notUnderstoodCount }) => sum + notUnderstoodCount, 0)
    const largest = `${Math.round(this.#limits.maxPacketBytes / 1024)} KiB`
    const notes = [
      devices.length === 0 &&
        'No sensor has been found yet. Sensors that are not announced by retained messages appear when they send a value. In Zigbee2MQTT, switch on homeassistant.enabled.',
      refusedTopicCount > 0 &&
        `The broker refuses ${refusedTopicCount} topics, such as ${refusedTopics.slice(0, 3).join(', ')}. Allow this user to read them, or name the topics to read.`,
      skippedCount > 0 &&
        `${skippedCount} messages were larger than ${largest} and were not read. The largest had ${largestSkippedBytes} bytes.`,
      this.#leftOutCount > 0 &&
        `Some announcements were left out: a source has at most ${this.#limits.maxDevices} devices and ${this.#limits.maxTopics} topics.`,
      refusedValues > 0 && `${refusedValues} values were refused. The page of the source names them for each sensor.`,
      notUnderstood > 0 && `${notUnderstood} values cannot be read. The page of the source names them for each sensor.`,
      ...this.#mappings.flatMap((readable) => problemsOf(readable).map((text) => `${readable.mapping.model}: ${text}`)),
    ]
    return notes.flatMap((note) => (note === false ? [] : [shownText(note, 255)])).slice(0, 16)
  }
}

function rememberedFor(key: string, memory: unknown): RememberedDevice | undefined {
  const remembered = memory as RememberedDevice | undefined
  return remembered?.description?.key === key && Array.isArray(remembered.sensors) ? remembered : undefined
}
