// Values of settings as readable text: FRAMING_MODE_GROUP and GROUP are both "Group".
import { type ConfigKey, type ConfigValue, configKeys, readOnlyKeys } from '../../../contract/device/config-keys.ts'
import { humanize } from '../../../contract/words.ts'
import { numberText } from './setting-units.ts'

export type SettingValues = Readonly<Record<string, ConfigValue>>

export const findConfigKey = (name: string): ConfigKey | undefined => {
  if (Object.hasOwn(configKeys, name)) return configKeys[name]
  return Object.hasOwn(readOnlyKeys, name) ? readOnlyKeys[name] : undefined
}

export const isSecret = (name: string): boolean => findConfigKey(name)?.secret === true

const unknown = '_UNKNOWN'

/** The prefix of the long forms, taken from the first value, which is always the unknown one. */
const prefixOf = ({ values = [] }: ConfigKey): string => values[0]?.slice(0, -unknown.length) ?? ''

function enumText(key: ConfigKey, value: string): string {
  const prefix = `${prefixOf(key)}_`
  const words = humanize(value.startsWith(prefix) ? value.slice(prefix.length) : value)
  return words.replaceAll(/\bUSB ([ac])\b/g, (_, plug: string) => `USB-${plug.toUpperCase()}`)
}

const languages = new Intl.DisplayNames('en-GB', { type: 'language', fallback: 'none' })

/** An explanation to show beside a value, such as the name of a language. */
export function explanationOf(name: string, value: string): string | undefined {
  if (name !== 'language') return undefined
  try {
    return languages.of(value)
  } catch {
    return undefined
  }
}

/** Stands for the stored password. The service does not reveal whether there is one. */
export const unknownSecret = '*** (unknown)'
/** Stands for a password that is being changed. [contract 5.3.versions] */
export const newSecret = '*** (changed)'
const secretTexts: Readonly<Record<string, string>> = {
  [unknownSecret]: 'current password (hidden)',
  [newSecret]: 'new password (hidden)',
}

/** The value of a setting as readable text. */
export function valueText(name: string, value: unknown): string {
  const key = findConfigKey(name)
  if (key?.secret) return secretTexts[String(value)] ?? 'password (hidden)'
  if (typeof value === 'boolean') return key ? (value ? 'On' : 'Off') : value ? 'Yes' : 'No'
  if (typeof value === 'number') return key ? numberText(key, value) : String(value)
  if (typeof value !== 'string') return JSON.stringify(value)
  if (key?.type === 'enum') return enumText(key, value)
  const gloss = explanationOf(name, value)
  return gloss ? `${value} (${gloss})` : value
}

/** True for equal values, and for the long and the short form of an enum value. */
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

/** The choices of an enum, each once, in the stored form if there is one. The unknown value is not offered: clearing the field means the same. */
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
