// How answers look to people: a table for a list, and pairs of a name and a value for one thing.
import { ownProperty } from '../../contract/own-property.ts'
import { columnGap, columnWidths, textTable } from '../terminal/text-table.ts'
import type { ShapeText } from './shape-text.ts'

type Json = Readonly<Record<string, unknown>>

/** Longer texts are cut off in tables. */
const maxCellLength = 60

export interface List {
  /** The key of the answer that has the items. */
  readonly key: string
  readonly item: ShapeText
}

/** Returns undefined for an answer that is more than one list. */
export function listIn({ properties = {} }: ShapeText): List | undefined {
  const keys = Object.keys(properties).filter((key) => key !== 'nextPageToken')
  const [key = ''] = keys
  const { type, items } = properties[key] ?? {}
  return keys.length === 1 && type === 'array' && items?.properties ? { key, item: items } : undefined
}

/** Columns that can be shown in a cell: values, lists of values, and things with a name. */
export const columnsOf = (item: ShapeText): string[] =>
  Object.entries(item.properties ?? {}).flatMap(([name, shape]) => {
    if (shape.type === 'array') return shape.items?.type === 'object' || shape.items?.anyOf ? [] : name
    if (shape.type !== 'object') return name
    return shape.properties?.name ? `${name}.name` : []
  })

export interface Table {
  readonly lines: string[]
  readonly columns: string[]
  /** The columns for which the terminal has no room. */
  readonly omitted: string[]
}

/** Unless the columns were chosen, empty ones are left out, and those that a terminal of this width has no room for. */
export function tableOf(
  items: readonly Json[],
  columns: readonly string[],
  { width, isChosen = false }: { readonly width?: number | undefined; readonly isChosen?: boolean } = {},
): Table {
  const cut = (text: string) => (width === undefined ? text : cutOff(text))
  const all = columns.map((name) => ({
    name,
    cells: [name.toUpperCase(), ...items.map((item) => cut(cellOf(valueAt(item, name))))],
  }))
  const filled = all.filter(({ cells: [, ...values] }) => isChosen || values.some((value) => value !== ''))
  const count =
    width === undefined || isChosen
      ? filled.length
      : fittingCount(
          filled.map(({ cells }) => cells),
          width,
        )
  const shown = filled.slice(0, count)
  const rows = ['', ...items].map((_, row) => shown.map(({ cells }) => cells[row] ?? ''))
  const namesOf = (some: typeof filled) => some.map(({ name }) => name)
  return { lines: textTable(rows), columns: namesOf(shown), omitted: namesOf(filled.slice(count)) }
}

/** How many of the columns fit, at least one. No later column takes the room of one that does not fit. */
function fittingCount(columns: readonly (readonly string[])[], width: number): number {
  let used = 0
  const first = columns.findIndex((cells) => {
    used += (columnWidths(cells.map((cell) => [cell]))[0] ?? 0) + columnGap
    return used - columnGap > width
  })
  return first < 0 ? columns.length : Math.max(1, first)
}

/** A line for each value; names of values inside others have dots. Lists of things are tables of their own. */
export function pairsOf(answer: Json): string[] {
  const pairs: [string, string][] = []
  const tables: string[] = []
  const add = (value: unknown, name: string): void => {
    if (isThings(value)) {
      const columns = [...new Set(value.flatMap((item) => Object.keys(item).filter((key) => isShort(item[key]))))]
      tables.push('', `${name}:`, ...tableOf(value, columns).lines.map((line) => `  ${line}`))
    } else if (isJson(value) && Object.keys(value).length > 0) {
      for (const [key, inner] of Object.entries(value)) add(inner, `${name}.${key}`)
    } else pairs.push([name, cellOf(value)])
  }
  for (const [name, value] of Object.entries(answer)) add(value, name)
  return [...textTable(pairs), ...tables]
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const isThings = (value: unknown): value is readonly Json[] =>
  Array.isArray(value) && value.length > 0 && value.every(isJson)
const isShort = (value: unknown): boolean => !isJson(value) && !isThings(value)

const valueAt = (item: Json, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (isJson(value) ? ownProperty(value, key) : undefined), item)

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value).replaceAll(/\s*\n\s*/g, ' ')
}

function cutOff(text: string): string {
  const characters = [...text]
  return characters.length > maxCellLength ? `${characters.slice(0, maxCellLength - 1).join('')}…` : text
}
