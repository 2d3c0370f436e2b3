// Derives an option's kind of value and its help from a JSON Schema of the contract, and parses its text.
import type { TSchema } from 'typebox'

/** The parts of JSON Schema that the contract uses. */
export interface ShapeText {
  readonly type?: string
  readonly description?: string
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly ShapeText[]
  readonly items?: ShapeText
  readonly properties?: Readonly<Record<string, ShapeText>>
  readonly required?: readonly string[] | boolean
}

export const shapeText = (shape: TSchema): ShapeText => shape as unknown as ShapeText

/** The shapes of which a value has one: those of a union, else the shape itself. */
const choicesOf = (shape: ShapeText): readonly ShapeText[] => shape.anyOf?.flatMap(choicesOf) ?? [shape]
const has = (shape: ShapeText, ...types: string[]): boolean =>
  choicesOf(shape).some(({ type = 'object' }) => types.includes(type))
/** A union of an object and a list, such as [] for no hours, is written as JSON. */
const listOf = (shape: ShapeText): ShapeText | undefined =>
  has(shape, 'object') ? undefined : choicesOf(shape).find(({ type }) => type === 'array')

export const isList = (shape: ShapeText): boolean => listOf(shape) !== undefined

/** The word that stands for the value in the help. */
export function placeholderOf(shape: ShapeText): string {
  const items = listOf(shape)?.items
  if (items) return placeholderOf(items)
  if (has(shape, 'object')) return 'json'
  if (has(shape, 'boolean')) return 'true|false'
  if (has(shape, 'integer', 'number')) return 'number'
  return choicesOf(shape).some(({ format }) => format === 'date-time') ? 'time' : 'text'
}

/** The config of a device has more keys, which its document lists. */
const maxKeysInHelp = 20

export function helpOf(shape: ShapeText): string {
  const list = listOf(shape)
  const choices = [...choicesOf(shape), ...(list?.items ? choicesOf(list.items) : [])]
  const words = choices.flatMap((choice) => choice.enum ?? [])
  const description = shape.description ?? choices.find((choice) => choice.description)?.description
  const keys = [...new Set(choices.flatMap(({ properties = {} }) => Object.keys(properties)))]
  return [
    description,
    keys.length > 0 && keys.length <= maxKeysInHelp && `Keys: ${keys.join(', ')}.`,
    words.length > 0 && `One of ${words.join(', ')}.`,
    list && 'Repeatable.',
    has(shape, 'null') && !/\bnull\b/i.test(description ?? '') && 'null clears it.',
  ]
    .filter(Boolean)
    .join(' ')
}

/** Throws an error whose message says what the text must be. */
export function parseValue(shape: ShapeText, text: string): unknown {
  if (has(shape, 'null') && text === 'null') return null
  if (has(shape, 'boolean') && /^(true|false)$/.test(text)) return text === 'true'
  if (has(shape, 'integer', 'number') && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return Number(text)
  if (has(shape, 'object', 'array') && /^\s*[[{]/.test(text)) return parseJson(text)
  if (has(shape, 'string')) return text
  throw new Error(`The value must be ${wantedOf(shape)}.`)
}

/** A list takes an item, or a JSON list of them; numbers may also be separated by commas. */
export function parseItems(shape: ShapeText, text: string): readonly unknown[] | null {
  if (has(shape, 'null') && text === 'null') return null
  if (/^\s*\[/.test(text)) return parseJson(text) as unknown[]
  const items = listOf(shape)?.items ?? {}
  return has(items, 'integer')
    ? text.split(',').map((item) => parseValue(items, item.trim()))
    : [parseValue(items, text)]
}

function wantedOf(shape: ShapeText): string {
  const wanted = [
    has(shape, 'boolean') && 'true or false',
    has(shape, 'integer', 'number') && 'a number',
    has(shape, 'object', 'array') && 'JSON',
    has(shape, 'null') && 'null',
  ]
  return wanted.filter(Boolean).join(', or ')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`The value is not JSON: ${(error as Error).message}.`)
  }
}
