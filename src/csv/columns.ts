// Finds the columns of a file by their headers, in any order, under any of their names.
import { withoutApostrophe } from '../contract/csv.ts'
import { customFieldName } from '../contract/fleet/custom-fields.ts'
import { CsvError, type Mistake } from './mistakes.ts'
import type { CsvFile, CsvRow } from './read-csv.ts'

/** Each column, with the other headers that people and tools write for it. */
export type ColumnNames<C extends string> = Readonly<Record<C, readonly string[]>>

/** A file whose cells are found by column. */
export interface Sheet<C extends string> {
  readonly file: CsvFile
  /** The place of each column that the file has. */
  readonly places: ReadonlyMap<C, number>
  /** The columns `field.<name>`, by the name. */
  readonly fields: ReadonlyMap<string, number>
  readonly lines: readonly Line<C>[]
}

/** A row of the sheet. Its cells are trimmed, and have no apostrophe against formulas. */
export interface Line<C extends string> {
  readonly number: number
  /** Undefined if the file does not have the column; an empty cell is an empty text. */
  readonly cell: (column: C) => string | undefined
  readonly fields: ReadonlyMap<string, string>
  readonly formulas: readonly Mistake[]
  readonly mistake: (column: C | `field.${string}` | undefined, reason: string) => Mistake
}

/** Nothing if the file does not have the column. */
export function placeOf<C extends string>(
  { file, places }: Sheet<C>,
  name: C | undefined,
): Pick<Mistake, 'column' | 'header'> {
  const column = name === undefined ? undefined : places.get(name)
  return column === undefined ? {} : { column, header: file.header[column]?.trim() ?? '' }
}

const fieldPrefix = 'field.'
const fieldHeader = new RegExp(`^field\\.(${customFieldName})$`)

/** Headers differ in case, spaces and hyphens only: "Room Name" is `room_name`. */
const normalised = (header: string) =>
  header
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')

interface ColumnRules<C> {
  /** Whether there are columns `field.<name>`. */
  readonly hasFields: boolean
  /** One column of each group must be there. */
  readonly required: readonly (readonly C[])[]
}

export class Columns<C extends string> {
  readonly #byHeader: ReadonlyMap<string, C>
  readonly #hasFields: boolean
  readonly #required: ColumnRules<C>['required']

  constructor(names: ColumnNames<C>, { hasFields, required }: ColumnRules<C>) {
    this.#byHeader = new Map(
      (Object.entries(names) as [C, readonly string[]][]).flatMap(([column, others]) =>
        [column, ...others].map((header) => [normalised(header), column] as const),
      ),
    )
    this.#hasFields = hasFields
    this.#required = required
  }

  readonly has = (header: string): boolean => this.#columnOf(header) !== undefined

  /** Refuses a header that is unknown or stands twice: a mistyped one would otherwise be ignored in silence. */
  sheet(file: CsvFile): Sheet<C> {
    const places = new Map<C, number>()
    const fields = new Map<string, number>()
    const mistakes = file.header.flatMap((header, column): Mistake[] => {
      if (header.trim() === '') return this.#emptyHeader(file, column)
      const found = this.#columnOf(header)
      if (found === undefined) return [{ row: 1, column, header: header.trim(), reason: this.#unknownText(header) }]
      const [map, name] = typeof found === 'string' ? [places, found] : [fields, found.field]
      const first = (map as Map<string, number>).get(name)
      if (first !== undefined) {
        const reason = `The column is named "${file.header[first]?.trim()}" already. Remove one of the two.`
        return [{ row: 1, column, header: header.trim(), reason }]
      }
      ;(map as Map<string, number>).set(name, column)
      return []
    })
    for (const group of this.#required) {
      if (group.some((column) => places.has(column))) continue
      mistakes.push({
        row: 1,
        reason: `The file has no column ${group.join(' or ')}. The first row names the columns.`,
      })
    }
    mistakes.push(...cellsWithoutHeader(file))
    if (mistakes.length > 0) throw new CsvError(mistakes)
    const sheet = { file, places, fields }
    return { ...sheet, lines: file.rows.map((row) => lineOf(sheet, row)) }
  }

  #columnOf(header: string): C | { readonly field: string } | undefined {
    const column = this.#byHeader.get(normalised(header))
    if (column !== undefined || !this.#hasFields) return column
    const [, field] = fieldHeader.exec(header.trim().toLowerCase()) ?? []
    return field === undefined ? undefined : { field }
  }

  #emptyHeader({ rows }: CsvFile, column: number): Mistake[] {
    const row = rows.find(({ cells }) => cells[column]?.trim())
    return row ? [{ row: 1, column, reason: `The column has no header, and row ${row.number} has a value in it.` }] : []
  }

  #unknownText(header: string): string {
    const columns = [...new Set(this.#byHeader.values())].join(', ')
    const own = this.#hasFields
      ? `, and ${fieldPrefix}<name> for a field of your own (a-z, 0-9 and _, up to 40 characters)`
      : ''
    return `"${header.trim().slice(0, 60)}" is not a column. The columns are ${columns}${own}. Rename or remove it.`
  }
}

/** Such as those of a row with a comma that is not in quotation marks. */
const cellsWithoutHeader = ({ header: { length: width }, rows }: CsvFile): Mistake[] =>
  rows.flatMap(({ number: row, extraColumn: column }) => {
    if (column === undefined) return []
    const columns = width === 1 ? '1 column' : `${width} columns`
    return [{ row, column, reason: `The header has ${columns}. Name this column, or put the cell in quotation marks.` }]
  })

/** The file does not have the value of a formula. */
const formulasIn = (header: CsvFile['header'], { number: row, cells }: CsvRow): Mistake[] =>
  cells.flatMap((cell, column): Mistake[] =>
    /^\s*[=＝]/.test(cell)
      ? [
          {
            row,
            column,
            header: header[column]?.trim() ?? '',
            reason: "The cell is a formula. Save its value; if the text is meant, write an apostrophe in front: '=…",
            isFormula: true,
          },
        ]
      : [],
  )

function lineOf<C extends string>({ file, places, fields }: Omit<Sheet<C>, 'lines'>, row: CsvRow): Line<C> {
  const { number, cells } = row
  const textAt = (place: number) => withoutApostrophe((cells[place] ?? '').trim())
  return {
    number,
    cell: (column) => {
      const place = places.get(column)
      return place === undefined ? undefined : textAt(place)
    },
    fields: new Map([...fields].map(([name, place]) => [name, textAt(place)])),
    formulas: formulasIn(file.header, row),
    mistake: (name, reason) => {
      if (name === undefined) return { row: number, reason }
      const place = places.get(name as C) ?? fields.get(name.slice(fieldPrefix.length))
      if (place === undefined) return { row: number, reason: `${name}: ${reason}` }
      return { row: number, column: place, header: file.header[place]?.trim() ?? name, reason }
    },
  }
}
