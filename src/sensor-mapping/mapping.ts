// A mapping says which values in the messages of one model of device are which sensors. The gateway and the console's form read it.
import type { MappedValue, SensorMapping } from '../contract/fleet/sources.ts'
import { quantityOf, unknownUnit } from './quantity.ts'
import {
  evaluate,
  NotUnderstood,
  numberOf,
  parseTemplate,
  renderedText,
  type SensorMessage,
  shownText,
  type Template,
  TemplateInput,
} from './template.ts'
import { converterOf } from './units.ts'
import { type Uplink, uplinkOf } from './uplink.ts'

export interface ReadableMapping {
  readonly mapping: SensorMapping
  readonly device?: Template | NotUnderstood | undefined
  readonly time?: Template | NotUnderstood | undefined
  readonly values: readonly ReadableValue[]
}

interface ReadableValue {
  readonly sensor: MappedValue
  readonly unit?: string | undefined
  readonly template: Template | NotUnderstood
  /** Why the value can never be read, such as an unknown unit. */
  readonly problem?: string | undefined
}

export interface MappedMessage {
  /** Identifies the device; absent if the message does not tell. */
  readonly device?: string | undefined
  /** Present for LoRaWAN. */
  readonly uplink?: Uplink | undefined
  /** Unix milliseconds; absent means when the message arrived. */
  readonly measuredAtMs?: number | undefined
  /** In the order of the mapping. */
  readonly values: readonly MappedQuantity[]
  /** Why nothing, or not everything, can be read. */
  readonly problems: readonly string[]
}

export interface MappedQuantity {
  readonly sensor: MappedValue
  /** The value in the sensor's unit. Absent: the message does not have it, or it was refused. */
  readonly value?: number | undefined
  /** The text that the message has at this path; absent if it has none. */
  readonly text?: string | undefined
  readonly problem?: string | undefined
}

const maxDeviceCharacters = 128

export function readableMapping(mapping: SensorMapping): ReadableMapping {
  return {
    mapping,
    device: mapping.device === undefined ? undefined : parseTemplate(mapping.device),
    time: mapping.time === undefined ? undefined : parseTemplate(mapping.time),
    values: mapping.values.map(({ sensor, template, unit }) => {
      const parsed = parseTemplate(template)
      const hasUnit = converterOf(sensor, unit) !== undefined
      const problem = parsed instanceof NotUnderstood ? parsed.sentence : undefined
      return {
        sensor,
        unit,
        template: parsed,
        problem: problem ?? (hasUnit ? undefined : unknownUnit(sensor, unit ?? '')),
      }
    }),
  }
}

/** Sentences about what is wrong with a mapping whatever the message. */
export function problemsOf({ device, time, values }: ReadableMapping): string[] {
  return [
    ...[device, time].flatMap((template) => (template instanceof NotUnderstood ? [template.sentence] : [])),
    ...values.flatMap(({ problem }) => problem ?? []),
  ]
}

/** Reads a message. Templates of LoRaWAN mappings read the decoded payload: `value_json.people_count_all`. */
export function readMapped(readable: ReadableMapping, message: TemplateInput): MappedMessage {
  const { format } = readable.mapping
  if (format === 'json') {
    const problems = message.json === undefined && needsJson(readable) ? [notJson(message.payload)] : []
    return readValues(readable, message, undefined, problems)
  }
  if (message.json === undefined) return { values: [], problems: [notJson(message.payload)] }
  const uplink = uplinkOf(format, message.json)
  if (!uplink) return { values: [], problems: [`The message is not an uplink of ${serverNames[format]}.`] }
  if (!uplink.decoded) {
    const problem = `The message has no decoded payload. Give the device a payload decoder in ${serverNames[format]}.`
    return { device: uplink.device, uplink, values: [], problems: [problem] }
  }
  return readValues(readable, new TemplateInput(message, uplink.decoded), uplink, [])
}

/** Whether the devices with this profile or identifier have the mapping. */
export const matches = ({ match }: SensorMapping, ...names: readonly (string | undefined)[]): boolean =>
  match === undefined || names.some((name) => name?.toLowerCase().includes(match.toLowerCase()))

const serverNames = { 'things-stack': 'The Things Stack', chirpstack: 'ChirpStack' } as const

const notJson = (payload: string) => `The message is not JSON: ${shownText(payload, 60)}`

const needsJson = ({ values }: ReadableMapping): boolean =>
  values.some(({ template }) => !(template instanceof NotUnderstood) && template.source.kind === 'value_json')

function readValues(
  { device, time, values }: ReadableMapping,
  message: TemplateInput,
  uplink: Uplink | undefined,
  problems: readonly string[],
): MappedMessage {
  const measured = measuredAt(time, message, uplink)
  const identity = uplink ? { device: uplink.device } : deviceIn(device, message)
  return {
    device: identity.device,
    uplink,
    measuredAtMs: measured.atMs,
    values: values.map((value) => readValue(value, message)),
    problems: [...problems, ...(identity.problem ?? []), ...(measured.problem ?? [])],
  }
}

interface DeviceIn {
  readonly device?: string
  readonly problem?: readonly [string]
}

function deviceIn(template: ReadableMapping['device'], message: TemplateInput): DeviceIn {
  if (template === undefined) return { device: shownText(message.topic, maxDeviceCharacters) }
  if (template instanceof NotUnderstood) return { problem: [template.sentence] }
  const found = evaluate(template, message)
  const text = found.kind === 'value' ? shownText(renderedText(found.value), maxDeviceCharacters) : ''
  return text === '' ? { problem: ['The message has no value that identifies its device.'] } : { device: text }
}

interface MeasuredAt {
  readonly atMs?: number | undefined
  readonly problem?: readonly [string]
}

function measuredAt(template: ReadableMapping['time'], message: TemplateInput, uplink: Uplink | undefined): MeasuredAt {
  if (template === undefined) return { atMs: uplink?.receivedAt === undefined ? undefined : timeOf(uplink.receivedAt) }
  if (template instanceof NotUnderstood) return { problem: [template.sentence] }
  const found = evaluate(template, message)
  if (found.kind === 'absent') return {}
  const atMs = found.kind === 'value' ? timeOf(found.value) : undefined
  if (atMs !== undefined) return { atMs }
  return {
    problem: ['The time is neither a date with a time zone, such as 2026-11-17T10:00:00Z, nor a number of seconds.'],
  }
}

/** Larger numbers are milliseconds: as seconds they are beyond the year 5000. */
const maxUnixSeconds = 1e11
const maxUnixMs = 1e14

function timeOf(value: string | number | boolean): number | undefined {
  const number = numberOf(typeof value === 'boolean' ? undefined : value)
  if (number !== undefined) {
    if (number <= 0 || number > maxUnixMs) return undefined
    return Math.round(number > maxUnixSeconds ? number : number * 1000)
  }
  // A time without a zone is the local time of the device, which is not known here.
  const hasZone =
    typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/i.test(value)
  const atMs = hasZone ? Date.parse(value) : Number.NaN
  return Number.isFinite(atMs) && atMs > 0 ? atMs : undefined
}

function readValue({ sensor, unit, template, problem }: ReadableValue, message: TemplateInput): MappedQuantity {
  if (template instanceof NotUnderstood || problem !== undefined) return { sensor, problem }
  const found = evaluate(template, message)
  if (found.kind === 'absent') return { sensor }
  if (found.kind === 'refused') return { sensor, problem: found.because }
  const text = shownText(renderedText(found.value), 60)
  const quantity = quantityOf(sensor, found.value, unit)
  if (quantity.kind === 'value') return { sensor, text, value: quantity.value }
  return { sensor, text, problem: quantity.kind === 'refused' ? quantity.because : undefined }
}

/** For the form of a mapping: how the last message would be read. */
export function previewMapping(mapping: SensorMapping, { topic, payload }: SensorMessage): MappedMessage {
  const readable = readableMapping(mapping)
  const read = readMapped(readable, new TemplateInput({ topic, payload }))
  // Even without a readable message, the form shows which of its templates and units are wrong.
  const values =
    read.values.length > 0 ? read.values : readable.values.map(({ sensor, problem }) => ({ sensor, problem }))
  return { ...read, values }
}
