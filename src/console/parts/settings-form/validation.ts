// Validates settings before they are sent, with the table of config keys that the service uses too. [contract 5.3]
import { ApiError } from '../../../client/client.ts'
import type { ConfigKey } from '../../../contract/device/config-keys.ts'
import { int32 } from '../../../contract/shape.ts'
import type { SettingChanges } from './draft.ts'
import { limitInUnit } from './setting-units.ts'
import { findConfigKey } from './setting-values.ts'

export type FieldErrors = Readonly<Record<string, string>>

const maxTextCharacters = 255

function problemOf(key: ConfigKey, value: unknown): string | undefined {
  if (key.type === 'number' || key.type === 'integer') return numberProblem(key, value)
  if (key.type !== 'string') return undefined
  return textInputProblem(String(value), maxTextCharacters)
}

function numberProblem(key: ConfigKey, value: unknown): string | undefined {
  const { type, min, max } = key
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'Enter a number.'
  if (type === 'integer' && !Number.isInteger(value)) return 'Enter a whole number.'
  const lowest = min ?? (type === 'integer' ? int32.minimum : undefined)
  const highest = max ?? (type === 'integer' ? int32.maximum : undefined)
  if (lowest !== undefined && value < lowest) return `Minimum is ${limitInUnit(key, lowest)}.`
  if (highest !== undefined && value > highest) return `Maximum is ${limitInUnit(key, highest)}.`
  return undefined
}

/** Validates a text input. The service trims white space at both ends. [contract 1.10] */
export function textInputProblem(text: string, maxCharacters: number, mayHaveLines = false): string | undefined {
  const length = [...text.trim()].length
  if (length === 0) return 'Enter a value or clear the field.'
  if (length > maxCharacters) return `Too long: ${length} of ${maxCharacters} characters.`
  const control = mayHaveLines ? /[^\P{Cc}\n\r\t]/u : /\p{Cc}/u
  return control.test(text) ? 'Contains invisible characters. Type the text again.' : undefined
}

/** The problems by setting. A setting that is removed cannot be invalid. */
export const settingProblems = (changes: SettingChanges): FieldErrors =>
  Object.fromEntries(
    Object.entries(changes).flatMap(([name, value]) => {
      const key = findConfigKey(name)
      const problem = key && value !== null ? problemOf(key, value) : undefined
      return problem === undefined ? [] : [[name, problem]]
    }),
  )

/** The violations that the service answered with, by setting: config.brightness is brightness. */
export const serverViolations = (error: unknown): FieldErrors =>
  error instanceof ApiError
    ? Object.fromEntries(
        (error.body?.violations ?? []).map(({ field, error }) => [
          field.split('.').at(-1) ?? field,
          `The value ${error}.`,
        ]),
      )
    : {}
