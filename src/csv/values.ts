// Reads the values of cells. Undefined: the file does not have the column, so the value stays. Null: the cell is empty, which clears the value.
import { maxCustomFieldLength, maxCustomFields } from '../contract/fleet/custom-fields.ts'
import { maxTags } from '../contract/fleet/rooms.ts'
import { roomTagPattern } from '../contract/jobs/job-request.ts'
import { isTimeZone } from '../contract/time.ts'
import type { Line } from './columns.ts'
import type { Mistake } from './mistakes.ts'

/** Gathers what is wrong in a row while its values are read. */
export class CellReader<C extends string> {
  readonly line: Line<C>
  readonly mistakes: Mistake[]

  constructor(line: Line<C>) {
    this.line = line
    this.mistakes = [...line.formulas]
  }

  /** Returns undefined, as for a value that is not there. A cell has one mistake: others may follow from it. */
  wrong(name: C | `field.${string}` | undefined, reason: string): undefined {
    const mistake = this.line.mistake(name, reason)
    const { column } = mistake
    if (column === undefined || !this.mistakes.some((known) => known.column === column)) this.mistakes.push(mistake)
    return undefined
  }

  /** Whether one of these columns has a mistake. */
  isWrong(...names: readonly C[]): boolean {
    const columns = names.map((name) => this.line.mistake(name, '').column)
    return this.mistakes.some(({ column }) => column !== undefined && columns.includes(column))
  }

  text(column: C, maxLength: number): string | null | undefined {
    const text = this.line.cell(column)
    if (text === undefined) return undefined
    if (text === '') return null
    const problem = textProblem(text, maxLength)
    return problem === undefined ? text : this.wrong(column, problem)
  }

  integer(column: C, min: number, max: number): number | null | undefined {
    const text = this.line.cell(column)
    if (text === undefined) return undefined
    if (text === '') return null
    const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
    if (number >= min && number <= max) return number
    return this.wrong(column, `${shown(text)} is not a whole number from ${min} to ${max}.`)
  }

  /** A day as YYYY-MM-DD: other forms can be read in two ways. */
  day(column: C): string | null | undefined {
    const text = this.line.cell(column)
    if (text === undefined) return undefined
    if (text === '') return null
    if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) {
      return this.wrong(column, `${shown(text)} is not a date. Write it as 2027-01-31.`)
    }
    const day = new Date(`${text}T00:00:00Z`)
    if (!Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)) return text
    return this.wrong(column, `${text} is not in the calendar.`)
  }

  timezone(column: C): string | null | undefined {
    const text = this.line.cell(column)
    if (text === undefined) return undefined
    if (text === '') return null
    return isTimeZone(text)
      ? text
      : this.wrong(column, `${shown(text)} is not a time zone. Write one such as Europe/Oslo.`)
  }

  tags(column: C): string[] | null | undefined {
    const text = this.line.cell(column)
    if (text === undefined) return undefined
    const tags = [...new Set(text.split(/[\s,;|]+/).filter((tag) => tag !== ''))]
    if (tags.length === 0) return null
    const wrong = tags.find((tag) => !tagPattern.test(tag))
    if (wrong !== undefined) {
      return this.wrong(column, `${shown(wrong)} is not a tag. A tag has up to 40 of a-z, 0-9 and hyphens.`)
    }
    return tags.length <= maxTags
      ? tags
      : this.wrong(column, `There are ${tags.length} tags. A room has at most ${maxTags}.`)
  }

  /** The name of an environment variable, as `env:NAME`: a secret is not in a file. */
  variable(column: C): { env: string } | null | undefined {
    const text = this.line.cell(column)
    if (text === undefined) return undefined
    if (text === '') return null
    const [, env] = /^env:([A-Za-z_][A-Za-z0-9_]{0,254})$/.exec(text) ?? []
    if (env !== undefined) return { env }
    return this.wrong(column, 'A secret is not in the file. Write env:NAME, with the name of an environment variable.')
  }

  customFields(): Record<string, string | null> | undefined {
    const { fields } = this.line
    if (fields.size === 0) return undefined
    const values = [...fields].map(([name, text]) => [name, text === '' ? null : text] as const)
    for (const [name, text] of values) {
      const problem = text === null ? undefined : textProblem(text, maxCustomFieldLength)
      if (problem !== undefined) this.wrong(`field.${name}`, problem)
    }
    const count = values.filter(([, text]) => text !== null).length
    if (count > maxCustomFields)
      this.wrong(undefined, `The row has ${count} fields. There are at most ${maxCustomFields}.`)
    return Object.fromEntries(values)
  }
}

const tagPattern = new RegExp(roomTagPattern)

/** The server counts code points too. [contract 1.10] */
function textProblem(text: string, maxLength: number): string | undefined {
  const length = [...text].length
  if (length > maxLength) return `The text has ${length} characters. It can have ${maxLength}.`
  if (/[\p{Cc}]/u.test(text)) return 'The text has a line break or another control character. Remove it.'
  return text.isWellFormed() ? undefined : 'The text has an incomplete character. Type the text again.'
}

export const shown = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)

/** Without the values that the file does not have. */
export const definedOnly = <T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
