// What is wrong with a value before it is sent, by the same table that the service checks it with. [contract 5.3]
import { ApiError } from '../../../client/client.ts'
import type { ConfigKey } from '../../../contract/config-keys.ts'
import { int32 } from '../../../contract/shape.ts'
import type { SettingChanges } from './draft.ts'
import { findConfigKey } from './setting-values.ts'

export type FieldErrors = Readonly<Record<string, string>>

const maxTextCharacters = 255

function problemOf(key: ConfigKey, value: unknown): string | undefined {
  if (key.type === 'number' || key.type === 'integer') return numberProblem(key, value)
  if (key.type !== 'string') return undefined
  return textInputProblem(String(value), maxTextCharacters)
}

function numberProblem({ type, min, max }: ConfigKey, value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'This is not a number. Type digits only.'
  if (type === 'integer' && !Number.isInteger(value)) return 'Type a whole number.'
  const lowest = min ?? (type === 'integer' ? int32.minimum : undefined)
  const highest = max ?? (type === 'integer' ? int32.maximum : undefined)
  if (lowest !== undefined && value < lowest) return `Type a number that is not below ${lowest}.`
  if (highest !== undefined && value > highest) return `Type a number that is not above ${highest}.`
  return undefined
}

/** The same for any line of text; its ends are trimmed by the service. [contract 1.10] */
export function textInputProblem(text: string, longest: number, mayHaveLines = false): string | undefined {
  const length = [...text.trim()].length
  if (length === 0) return 'Spaces alone are no text. Type something, or clear the field.'
  if (length > longest) return `This has ${length} characters. Shorten it to ${longest}.`
  const control = mayHaveLines ? /[^\P{Cc}\n\r\t]/u : /\p{Cc}/u
  return control.test(text) ? 'This holds characters that cannot be seen. Type it again.' : undefined
}

/** By the name of the setting. What is unset cannot be wrong. */
export const settingProblems = (changes: SettingChanges): FieldErrors =>
  Object.fromEntries(
    Object.entries(changes).flatMap(([name, value]) => {
      const key = findConfigKey(name)
      const problem = key && value !== null ? problemOf(key, value) : undefined
      return problem === undefined ? [] : [[name, problem]]
    }),
  )

/** What the service found wrong, by the name of the setting: config.brightness is brightness. */
export const serverViolations = (error: unknown): FieldErrors =>
  error instanceof ApiError
    ? Object.fromEntries(
        (error.body?.violations ?? []).map(({ field, error }) => [field.split('.').at(-1) ?? field, `It ${error}.`]),
      )
    : {}
