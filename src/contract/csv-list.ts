// A list as CSV: its columns come from the shape of its items, and the name of a column is the path of its value in the JSON. [contract 6.csv]
import type { TSchema } from 'typebox'
import { ownProperty } from './own-property.ts'

type Item = Readonly<Record<string, unknown>>

export interface CsvColumn {
  readonly name: string
  readonly textOf: (item: Item) => string
}

export interface CsvList {
  /** The name of the file, without its ending. */
  readonly name: string
  /** The key of the items in the JSON answer. */
  readonly key: string
  readonly columns: readonly CsvColumn[]
  /** Items can have `fields`, of which each name is a column too. */
  readonly hasFields: boolean
}

interface ColumnOptions {
  /** Texts of values that `csvText` would not make readable, by their keys. */
  readonly texts?: Readonly<Record<string, (value: never) => string>>
  /** The columns, if they are not those of the item. */
  readonly columns?: readonly CsvColumn[]
}

export const csvList = (
  name: string,
  key: string,
  item: TSchema,
  { texts = {}, columns = columnsOf(item, texts) }: ColumnOptions = {},
): CsvList => ({ name, key, columns, hasFields: Object.hasOwn(propertiesOf(item) ?? {}, fieldsKey) })

const fieldsKey = 'fields'

const propertiesOf = (shape: TSchema): Readonly<Record<string, TSchema>> | undefined =>
  (shape as { properties?: Record<string, TSchema> }).properties

/** An object has a column for each of its values. An object in one of these is JSON. */
const columnsOf = (shape: TSchema, texts: NonNullable<ColumnOptions['texts']>): readonly CsvColumn[] =>
  Object.entries(propertiesOf(shape) ?? {}).flatMap(([key, value]) => {
    if (key === fieldsKey) return []
    const textOf = texts[key] as ((value: unknown) => string) | undefined
    if (textOf) return [{ name: key, textOf: (item) => (item[key] === undefined ? '' : textOf(item[key])) }]
    const inner = propertiesOf(value)
    return inner ? Object.keys(inner).map((name) => columnAt(key, name)) : [columnAt(key)]
  })

const columnAt = (...path: readonly string[]): CsvColumn => ({
  name: path.join('.'),
  textOf: (item) => csvText(valueAt(item, path)),
})

/** Collects the names of the fields that items have. */
export function addFieldNames(names: Set<string>, items: Iterable<Item>): void {
  for (const item of items) for (const name of Object.keys(item[fieldsKey] ?? {})) names.add(name)
}

export const fieldColumnsOf = (names: Iterable<string>): readonly CsvColumn[] =>
  [...names]
    .sort()
    .map((name) => ({ name: `field.${name}`, textOf: (item) => csvText(valueAt(item, [fieldsKey, name])) }))

const valueAt = (item: Item, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => ownProperty(value as Item | null | undefined, key), item)

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null

/** An absent value is an empty cell. Lists of words and numbers are separated by spaces, and everything else that has parts is JSON. */
export function csvText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (isScalar(value)) return String(value)
  return Array.isArray(value) && value.every(isScalar) ? value.join(' ') : JSON.stringify(value)
}
