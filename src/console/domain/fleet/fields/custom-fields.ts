// Custom fields in the console: which names are in use, what an edit changes, how lists are filtered by them, and their columns.
import {
  type CustomFields,
  customFieldName,
  maxCustomFieldLength,
  maxCustomFields,
} from '../../../../contract/fleet/custom-fields.ts'
import { ownProperty } from '../../../../contract/own-property.ts'
import { compareText } from '../../../../contract/search-text.ts'
import type { Column } from '../../../parts/table/column.ts'

interface WithFields {
  readonly fields?: CustomFields
}

/** The names that any of the rows has, sorted. */
export function customFieldNames(rows: readonly WithFields[]): readonly string[] {
  const names = new Set<string>()
  for (const { fields } of rows) if (fields) for (const name of Object.keys(fields)) names.add(name)
  return [...names].sort(compareText)
}

/** The texts that the rows have in a field, sorted. */
export const customFieldTexts = (rows: readonly WithFields[], name: string): readonly string[] =>
  [...new Set(rows.flatMap(({ fields }) => ownProperty(fields, name) ?? []))].sort(compareText)

/** The filter in the address: the name of a field, or name:text. */
export function parseFieldFilter(filter: string | undefined): { readonly name?: string; readonly text?: string } {
  if (filter === undefined) return {}
  const colon = filter.indexOf(':')
  return colon < 0 ? { name: filter } : { name: filter.slice(0, colon), text: filter.slice(colon + 1) }
}

export function fieldMatcher(filter: string | undefined): (row: WithFields) => boolean {
  const { name, text } = parseFieldFilter(filter)
  if (name === undefined) return () => true
  return ({ fields }) => {
    const found = ownProperty(fields, name)
    return found !== undefined && (text === undefined || found === text)
  }
}

/** Columns of the fields with these names: every exported file has them, and users can show them. */
export const fieldColumns = <T extends WithFields>(names: readonly string[]): readonly Column<T>[] =>
  names.map((name) => ({
    id: `field.${name}`,
    title: name,
    width: 'minmax(84px, 1fr)',
    from: 'file',
    text: ({ fields }) => ownProperty(fields, name) ?? '',
    cell: ({ fields }) => ownProperty(fields, name) ?? '–',
  }))

/** A line of the editor. */
export interface FieldLine {
  readonly key: number
  readonly name: string
  readonly text: string
}

export const fieldLines = (fields: CustomFields = {}): readonly FieldLine[] =>
  Object.entries(fields).map(([name, text], key) => ({ key, name, text }))

const isName = new RegExp(`^${customFieldName}$`)
const isFilled = ({ name, text }: FieldLine) => name.trim() !== '' || text.trim() !== ''

/** The problem of a line. An empty line is no problem: it is left out. */
export function lineProblem(line: FieldLine, lines: readonly FieldLine[]): string | undefined {
  if (!isFilled(line)) return undefined
  const name = line.name.trim()
  if (!isName.test(name)) return 'Use 1 to 40 of a to z, 0 to 9 and _ for the name.'
  if (lines.some((other) => other.key !== line.key && other.name.trim() === name)) return `There is another ${name}.`
  const length = [...line.text.trim()].length
  if (length === 0) return 'Enter a text, or remove the field.'
  return length > maxCustomFieldLength ? `Too long: ${length} of ${maxCustomFieldLength} characters.` : undefined
}

export const areLinesValid = (lines: readonly FieldLine[]): boolean =>
  lines.filter(isFilled).length <= maxCustomFields && lines.every((line) => lineProblem(line, lines) === undefined)

/** The fields of a request that stores the lines: new texts, and null for fields that are gone. Undefined if nothing differs. */
export function fieldChanges(
  before: CustomFields = {},
  lines: readonly FieldLine[],
): Readonly<Record<string, string | null>> | undefined {
  const after = new Map(lines.filter(isFilled).map(({ name, text }) => [name.trim(), text.trim()]))
  const changes = [
    ...[...after].filter(([name, text]) => ownProperty(before, name) !== text),
    ...Object.keys(before).flatMap((name) => (after.has(name) ? [] : [[name, null] as const])),
  ]
  return changes.length === 0 ? undefined : Object.fromEntries(changes)
}
