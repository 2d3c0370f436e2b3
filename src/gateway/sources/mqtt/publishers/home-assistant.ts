// Home Assistant's discovery, as Zigbee2MQTT, ESPHome, OpenMQTTGateway, rtl_433's script and others publish it.
import { createHash } from 'node:crypto'
import { secondMs } from '../../../../contract/durations.ts'
import type { MappedValue } from '../../../../contract/fleet/sources.ts'
import { isJsonObject, type Json, parseLimitedJson } from '../../../../sensor-mapping/limited-json.ts'
import { unknownUnit } from '../../../../sensor-mapping/quantity.ts'
import {
  NotUnderstood,
  numberOf,
  parseTemplate,
  plainValue,
  renderedText,
  type Template,
} from '../../../../sensor-mapping/template.ts'
import { converterOf } from '../../../../sensor-mapping/units.ts'
import {
  type Announcement,
  type AvailabilitySettings,
  type DeviceDescription,
  lineOf,
  readingName,
  type SensorChannel,
  unknownModel,
} from '../announcement.ts'
import { maxChannelsPerDevice, maxTopicCharacters } from '../limits.ts'
import { isTopicFilter } from '../topic-tree.ts'
import { expandDevice, expandEntity } from './home-assistant-keys.ts'

type Entity = Readonly<Record<string, Json>>
/** A channel, or a sentence about an entity that cannot be read, or undefined for an entity that is of no interest. */
type ReadEntity = { readonly channel: SensorChannel } | { readonly notUnderstood: string; readonly isSensor: boolean }

const configTopic = /^.+\/(sensor|binary_sensor|device)\/(?:([^/]+)\/)?([^/]+)\/config$/
const maxAvailabilityTopics = 8

export const isDiscoveryTopic = (topic: string): boolean => configTopic.test(topic)

/** Undefined if the message announces nothing that is of interest. */
export function readDiscovery(topic: string, payload: string): Announcement | undefined {
  const [, component = '', nodeId, objectId = ''] = configTopic.exec(topic) ?? []
  const config = parseLimitedJson(payload)
  if (component === '' || !isJsonObject(config)) return undefined
  const root = expandEntity(config)
  const entities =
    component === 'device' ? componentsOf(root) : [{ id: objectId, component, entity: root, names: [objectId, nodeId] }]
  const read = entities.slice(0, maxChannelsPerDevice).flatMap(({ id, component: platform, entity, names }) => {
    const result = readEntity(`${topic} ${id}`, platform, entity, names)
    return result ? [result] : []
  })
  const channels = read.flatMap((one) => ('channel' in one ? [one.channel] : []))
  const problems = read.flatMap((one) => ('channel' in one ? [] : [one]))
  const device = deviceOf(root, objectId)
  return device && { device, channels, notUnderstood: problems.map(({ notUnderstood }) => notUnderstood) }
}

interface ComponentEntity {
  readonly id: string
  readonly component: string
  readonly entity: Entity
  readonly names: readonly (string | undefined)[]
}

/** The device form: one message for all entities, which share the keys of the message itself. */
function componentsOf(root: Entity): ComponentEntity[] {
  const { components, device: _, origin: __, ...shared } = root
  if (!isJsonObject(components)) return []
  return Object.entries(components).flatMap(([id, component]) => {
    if (!isJsonObject(component)) return []
    const base = typeof root['~'] === 'string' ? { '~': root['~'] } : {}
    const entity = { ...shared, ...expandEntity({ ...base, ...component }) }
    const { platform } = entity
    return typeof platform === 'string' ? [{ id, component: platform, entity, names: [id] }] : []
  })
}

const sensorOfClass: ReadonlyMap<string, MappedValue> = new Map([
  ['carbon_dioxide', 'co2'],
  ['temperature', 'temp'],
  ['humidity', 'humidity'],
  ['illuminance', 'illumination'],
  ['volatile_organic_compounds', 'voc'],
  ['volatile_organic_compounds_parts', 'voc'],
])
const presenceClasses = new Set(['occupancy', 'presence', 'motion'])

/** Home Assistant has no class for these. */
const sensorOfName: readonly (readonly [RegExp, MappedValue])[] = [
  [
    /(?:^|_)(?:people|persons|occupants|headcount|(?:people|persons?|occupants?|occupancy|head)_(?:count|counter|number)|number_of_(?:people|persons)|people_count_all|occupancy_level)$/,
    'people',
  ],
  [/(?:^|_)(?:t?voc_index)$/, 'vocIndex'],
]
/** An estimate from organic compounds is not a measurement of carbon dioxide, and not one of organic compounds either. */
const estimateName = /(?:^|_)(?:eco2|eq_?co2|co2_?eq|estimated_co2)$/

function readEntity(
  id: string,
  component: string,
  entity: Entity,
  names: readonly (string | undefined)[],
): ReadEntity | undefined {
  const { state_topic: topic } = entity
  if (component !== 'sensor' && component !== 'binary_sensor') return undefined
  if (typeof topic !== 'string' || !isTopicFilter(topic, maxTopicCharacters)) return undefined
  const template = templateOf(entity.value_template)
  const unit = typeof entity.unit_of_measurement === 'string' ? entity.unit_of_measurement : undefined
  const all = namesOf(entity, template, names)
  const meaning = component === 'sensor' ? sensorMeaning(entity, unit, all) : binaryMeaning(entity)
  if (!meaning) return undefined
  const label = lineOf(entity.name ?? all[0], 40) ?? 'entity'
  const isSensor = meaning.kind === 'sensor'
  if (template instanceof NotUnderstood) return { notUnderstood: `${label}: ${template.sentence}`, isSensor }
  if (meaning.kind === 'sensor' && meaning.sensor !== 'presence') {
    if (converterOf(meaning.sensor, unit) === undefined)
      return { notUnderstood: `${label}: ${unknownUnit(meaning.sensor, unit ?? '')}`, isSensor }
    if (meaning.sensor === 'temp' && unit === undefined)
      return { notUnderstood: `${label}: The temperature has no unit.`, isSensor }
  }
  const [offDelay, expireAfter] = [numberOf(entity.off_delay ?? undefined), numberOf(entity.expire_after ?? undefined)]
  return {
    channel: {
      id,
      meaning,
      unit,
      inputs: [{ filter: topic, template }],
      onOff:
        component === 'binary_sensor'
          ? { on: textOf(entity.payload_on, 'ON'), off: textOf(entity.payload_off, 'OFF') }
          : undefined,
      rank: rankOf(meaning, all),
      offDelayMs: offDelay !== undefined && offDelay > 0 ? offDelay * secondMs : undefined,
      expireAfterMs: expireAfter !== undefined && expireAfter > 0 ? expireAfter * secondMs : undefined,
      availability: availabilityOf(entity),
    },
  }
}

const templateOf = (text: Json | undefined): Template | NotUnderstood =>
  text === undefined || text === null
    ? plainValue
    : parseTemplate(typeof text === 'string' ? text : JSON.stringify(text))

const textOf = (value: Json | undefined, usual: string): string =>
  value === undefined || value === null || typeof value === 'object'
    ? usual
    : renderedText(value as string | number | boolean)

/** The names that an entity has, the most telling first: the key that its template reads, then those that its publisher gave it. */
function namesOf(entity: Entity, template: Template | NotUnderstood, names: readonly (string | undefined)[]): string[] {
  const path = template instanceof NotUnderstood || template.source.kind !== 'value_json' ? [] : template.source.path
  return [path.at(-1), ...names, entity.object_id, entity.unique_id, entity.name].flatMap((name) => {
    if (typeof name !== 'string') return []
    return [
      name
        .slice(0, 200)
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, '_')
        .replaceAll(/^_|_$/g, ''),
    ]
  })
}

function binaryMeaning({ device_class: deviceClass }: Entity): SensorChannel['meaning'] | undefined {
  return typeof deviceClass === 'string' && presenceClasses.has(deviceClass)
    ? { kind: 'sensor', sensor: 'presence' }
    : undefined
}

function sensorMeaning(
  { device_class: deviceClass, entity_category: category, state_class: stateClass }: Entity,
  unit: string | undefined,
  names: readonly string[],
): SensorChannel['meaning'] | undefined {
  const nameOf = (text: string | undefined) => (text === undefined ? undefined : readingName(text))
  const reading = (text: string | undefined): SensorChannel['meaning'] | undefined => {
    const name = nameOf(text)
    return name === undefined ? undefined : { kind: 'reading', name }
  }
  if (names.some((name) => estimateName.test(name))) return reading('eco2')
  const ofClass = typeof deviceClass === 'string' ? sensorOfClass.get(deviceClass) : undefined
  // A chip's own temperature is diagnostic.
  if (ofClass !== undefined && typeof category === 'string') return reading(names[0])
  // A concentration in mg/m³ or µg/m³ cannot be converted exactly, and is still worth showing.
  if (ofClass === 'voc' && unit !== undefined && /g\/m/.test(unit)) return reading('voc')
  if (ofClass !== undefined) return { kind: 'sensor', sensor: ofClass }
  const ofName = sensorOfName.find(([pattern]) => names.some((name) => pattern.test(name)))?.[1]
  if (ofName !== undefined && typeof deviceClass !== 'string') return { kind: 'sensor', sensor: ofName }
  const isNumber = unit !== undefined || typeof stateClass === 'string'
  return isNumber && deviceClass !== 'timestamp'
    ? reading(typeof deviceClass === 'string' ? deviceClass : names[0])
    : undefined
}

/** A device can have several temperatures. The one with the plain name is that of the room. */
function rankOf(meaning: SensorChannel['meaning'], names: readonly string[]): number {
  if (meaning.kind === 'reading') return 0
  const plain: Partial<Record<MappedValue, RegExp>> = {
    temp: /(?:^|_)temp(?:erature|c)?$/,
    humidity: /(?:^|_)hum(?:idity)?$/,
    co2: /(?:^|_)(?:co2|carbon_dioxide)$/,
    illumination: /(?:^|_)(?:illuminance|lux)$/,
  }
  const other = /(?:external|outdoor|probe|device|chip|cpu|board|target|soil|local|dew)/
  const isPlain = names.some((name) => plain[meaning.sensor]?.test(name))
  return (isPlain ? 0 : 1) + (names.some((name) => other.test(name)) ? 2 : 0)
}

function availabilityOf(entity: Entity): AvailabilitySettings | undefined {
  const list: readonly Json[] = Array.isArray(entity.availability) ? entity.availability : []
  const single: readonly Json[] =
    typeof entity.availability_topic === 'string'
      ? [{ ...entity, topic: entity.availability_topic, value_template: entity.availability_template ?? null }]
      : []
  const topics = [...list, ...single].slice(0, maxAvailabilityTopics).flatMap((one) => {
    if (!isJsonObject(one) || typeof one.topic !== 'string' || !isTopicFilter(one.topic, maxTopicCharacters)) return []
    const template = templateOf(one.value_template)
    if (template instanceof NotUnderstood) return []
    const available = textOf(one.payload_available, 'online')
    return [{ topic: one.topic, template, available, notAvailable: textOf(one.payload_not_available, 'offline') }]
  })
  const { availability_mode: mode } = entity
  return topics.length === 0 ? undefined : { mode: mode === 'all' || mode === 'any' ? mode : 'latest', topics }
}

/** One device for each of `device.identifiers`; an entity without a device is a device of its own. */
function deviceOf(root: Entity, objectId: string): DeviceDescription | undefined {
  const device: Entity = isJsonObject(root.device) ? expandDevice(root.device) : {}
  const connection = Array.isArray(device.connections) ? device.connections[0] : undefined
  const identifier =
    firstText(device.identifiers) ??
    (Array.isArray(connection) ? firstText(connection[1]) : undefined) ??
    firstText(root.unique_id) ??
    firstText(objectId)
  if (identifier === undefined) return undefined
  return {
    key: keyFor('ha', identifier),
    format: 'home-assistant',
    model: lineOf(device.model, 64) ?? lineOf(device.model_id, 64) ?? unknownModel,
    // The name of an entity is that of its device only if it has no device.
    name: lineOf(isJsonObject(root.device) ? device.name : root.name, 100),
    manufacturer: lineOf(device.manufacturer, 100),
    serial: lineOf(device.serial_number, 64),
    firmwareVersion: lineOf(device.sw_version, 100),
    hardwareVersion: lineOf(device.hw_version, 100),
    area: lineOf(device.suggested_area, 100),
  }
}

const firstText = (value: Json | undefined): string | undefined => {
  const one = Array.isArray(value) ? value[0] : value
  return (typeof one === 'string' && one !== '') || typeof one === 'number' ? String(one) : undefined
}

const maxKeyCharacters = 120

/** The key of a device at its source: the publisher and the identifier that the device has there. */
export function keyFor(publisher: string, identifier: string): string {
  const key = `${publisher}/${identifier}`
  if (lineOf(key, maxKeyCharacters) === key) return key
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 32)
  return `${publisher}/${hash}`
}
