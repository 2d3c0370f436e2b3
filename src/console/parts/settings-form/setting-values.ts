// What the values of settings mean to a person: FRAMING_MODE_GROUP and GROUP are both "Group".
import { type ConfigKey, type ConfigValue, configKeys, readOnlyKeys } from '../../../contract/config-keys.ts'
import { humanize } from '../text/words.ts'

export type SettingValues = Readonly<Record<string, ConfigValue>>

export const findConfigKey = (name: string): ConfigKey | undefined => {
  if (Object.hasOwn(configKeys, name)) return configKeys[name]
  return Object.hasOwn(readOnlyKeys, name) ? readOnlyKeys[name] : undefined
}

export const isSecret = (name: string): boolean => findConfigKey(name)?.secret === true

const unknown = '_UNKNOWN'

/** The long forms begin with what the first value, which is always the unknown one, begins with. */
const prefixOf = ({ values = [] }: ConfigKey): string => values[0]?.slice(0, -unknown.length) ?? ''

function enumText(key: ConfigKey, value: string): string {
  const prefix = `${prefixOf(key)}_`
  const words = humanize(value.startsWith(prefix) ? value.slice(prefix.length) : value)
  return words.replaceAll(/\bUSB ([ac])\b/g, (_, plug: string) => `USB-${plug.toUpperCase()}`)
}

const languages = new Intl.DisplayNames('en-GB', { type: 'language', fallback: 'none' })

/** What is worth knowing beside a text that stands for itself. */
export function explanationOf(name: string, value: string): string | undefined {
  if (name !== 'language') return undefined
  try {
    return languages.of(value)
  } catch {
    return undefined
  }
}

const durationUnits = [
  { ms: 3_600_000, one: 'hour' },
  { ms: 60_000, one: 'minute' },
  { ms: 1000, one: 'second' },
]

/** 600000 milliseconds are 10 minutes. */
export function durationText(ms: number): string | undefined {
  const unit = durationUnits.find((length) => ms >= length.ms)
  if (!unit) return undefined
  const count = ms / unit.ms
  return `${count.toLocaleString('en-GB', { maximumFractionDigits: 1 })} ${count === 1 ? unit.one : `${unit.one}s`}`
}

/** Stands for a password that nobody here can know, not even whether there is one. */
export const unknownSecret = '*** (unknown)'
/** Stands for one that is set anew. [contract 5.3.versions] */
export const newSecret = '*** (changed)'
const secretTexts: Readonly<Record<string, string>> = {
  [unknownSecret]: 'whatever is set now (hidden)',
  [newSecret]: 'a new password (hidden)',
}

/** A value of a setting, in words. */
export function valueText(name: string, value: unknown): string {
  const key = findConfigKey(name)
  if (key?.secret) return secretTexts[String(value)] ?? 'a password (hidden)'
  if (typeof value === 'boolean') return key ? (value ? 'On' : 'Off') : value ? 'Yes' : 'No'
  if (typeof value === 'number') {
    const length = key?.unit === 'ms' ? durationText(value) : undefined
    return length ? `${length} (${value} ms)` : [value, key?.unit].filter((part) => part !== undefined).join(' ')
  }
  if (typeof value !== 'string') return JSON.stringify(value)
  if (key?.type === 'enum') return enumText(key, value)
  const gloss = explanationOf(name, value)
  return gloss ? `${value} (${gloss})` : value
}

/** Whether two values mean the same, however they are written. */
export const isSameValue = (name: string, a: unknown, b: unknown): boolean =>
  a === b ||
  (findConfigKey(name)?.type === 'enum' &&
    typeof a === typeof b &&
    typeof a === 'string' &&
    valueText(name, a) === valueText(name, b))

export interface SettingChoice {
  readonly value: string
  readonly label: string
}

/** Each meaning of an enum once, in the form that is stored if it is. Unknown is offered to nobody: unset says it better. */
export function enumChoices(name: string, stored: unknown): SettingChoice[] {
  const key = findConfigKey(name)
  const byMeaning = new Map<string, string>()
  for (const value of key?.values ?? []) {
    const label = valueText(name, value)
    if (value === stored) byMeaning.set(label, value)
    else if (!value.endsWith(unknown) && !byMeaning.has(label)) byMeaning.set(label, value)
  }
  return [...byMeaning].map(([label, value]) => ({ value, label }))
}
