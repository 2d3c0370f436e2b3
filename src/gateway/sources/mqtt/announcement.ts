// A publisher's announcement of a device: what it is, and which of its messages hold which values.
import type { FoundDevice, MappedValue } from '../../../contract/fleet/sources.ts'
import { shownText, type Template } from '../../../sensor-mapping/template.ts'

/** The model of a device whose publisher does not tell it. */
export const unknownModel = 'MQTT sensor'

export interface DeviceDescription {
  /** Identifies the device at its broker. */
  readonly key: string
  readonly format: NonNullable<FoundDevice['format']>
  readonly model: string
  readonly name?: string | undefined
  readonly manufacturer?: string | undefined
  readonly serial?: string | undefined
  readonly firmwareVersion?: string | undefined
  readonly hardwareVersion?: string | undefined
  /** The place that its publisher names. */
  readonly area?: string | undefined
  /** The model of the mapping that reads its messages. */
  readonly mapping?: string | undefined
}

/** One quantity of a device. */
export interface SensorChannel {
  readonly id: string
  /** A reading is a value that no sensor of ours stands for. */
  readonly meaning:
    | { readonly kind: 'sensor'; readonly sensor: MappedValue }
    | { readonly kind: 'reading'; readonly name: string }
  readonly unit?: string | undefined
  /** The messages that hold the value. Empty for uplinks, whose values come from their mapping. */
  readonly inputs: readonly { readonly filter: string; readonly template: Template }[]
  /** The texts of a binary sensor. */
  readonly onOff?: { readonly on: string; readonly off: string } | undefined
  /** The channel with the lowest rank is read, if several are for the same sensor. */
  readonly rank: number
  readonly offDelayMs?: number | undefined
  readonly expireAfterMs?: number | undefined
  readonly availability?: AvailabilitySettings | undefined
}

export interface AvailabilitySettings {
  readonly mode: 'latest' | 'all' | 'any'
  readonly topics: readonly {
    readonly topic: string
    readonly template: Template
    readonly available: string
    readonly notAvailable: string
  }[]
}

export interface Announcement {
  readonly device: DeviceDescription
  readonly channels: readonly SensorChannel[]
  /** Sentences about what cannot be read. */
  readonly notUnderstood: readonly string[]
}

/** One line of a limited length; undefined if nothing is left of it. */
export const lineOf = (text: unknown, maxCharacters: number): string | undefined =>
  typeof text === 'string' || typeof text === 'number' ? shownText(String(text), maxCharacters) || undefined : undefined

/** `soundPressure` of "sound_pressure": the form in which a status names readings. */
export function readingName(text: string): string | undefined {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const name = words.map((word, i) => (i === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('')
  return /^[a-z]/.test(name) ? name.slice(0, 40) : undefined
}

/** A template that reads the value at a path of JSON. */
export const at = (...path: readonly (string | number)[]): Template => ({
  source: { kind: 'value_json', path },
  filters: [],
})
