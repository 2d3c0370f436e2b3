// The options that the database stores, because all nodes must use the same values: their names, texts and defaults.
import { type AirLimits, defaultAirLimits } from '../../contract/journal/orgs.ts'
import { airLimitsText } from './air-limits.ts'
import { type OptionSpec, withUnit } from './database-options.ts'
import { serveOptions } from './options.ts'
import type { SharedOptions } from './server-options.ts'

export interface SharedOption {
  /** As in `roomkeeper settings`, such as sample-retention. */
  readonly name: string
  readonly key: keyof SharedOptions
  /** Throws a StartupError for a text that is no valid value. */
  readonly parse: (text: string) => unknown
  /** The text that is stored for a value: equal values have the same text. */
  readonly textOf: (value: unknown) => string
  readonly defaultText: string
}

export const sharedOptions: readonly SharedOption[] = serveOptions.filter((o) => o.isShared).map(sharedOptionOf)

function sharedOptionOf({ flag, parse = (text) => text, default: byDefault }: OptionSpec): SharedOption {
  const [, name = ''] = /^--([a-z-]+) /.exec(flag) ?? []
  const key = withUnit(camelCase(name), flag) as keyof SharedOptions
  const textOf = (value: unknown) => (key === 'airLimits' ? airLimitsText(value as AirLimits) : String(value))
  const defaultText = byDefault === undefined ? textOf(defaultAirLimits) : String(byDefault)
  return { name, key, parse: (text) => parse(text), textOf, defaultText }
}

function camelCase(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Parses the values of all shared options. */
export const sharedValuesOf = (texts: ReadonlyMap<string, string>): SharedOptions =>
  Object.fromEntries(
    sharedOptions.map(({ name, key, parse, defaultText }) => [key, parse(texts.get(name) ?? defaultText)]),
  ) as unknown as SharedOptions

/** The texts of the shared options that were given. */
export function givenTexts(options: Partial<SharedOptions>): ReadonlyMap<string, string> {
  const given = sharedOptions.filter(({ key }) => options[key] !== undefined)
  return new Map(given.map(({ name, key, textOf }) => [name, textOf(options[key])]))
}
