// Custom fields of rooms and endpoints, which are stored as JSON. [contract 5.5.fields] [contract 5.5.filter]
import { type CustomFields, customFieldName, maxCustomFields } from '../../contract/fleet/custom-fields.ts'
import { invalid } from '../core/failure.ts'

type SentFields = Readonly<Record<string, string | null>> | null | undefined
interface RowWithFields {
  readonly fields: string | null
}

export const customFieldsOf = ({ fields }: RowWithFields): CustomFields | null =>
  fields === null ? null : JSON.parse(fields)

/** Returns the stored fields after a request. They are sorted, so equal fields are equal texts. */
export function customFieldsAfter(sent: SentFields, stored: RowWithFields): string | null {
  if (sent === undefined) return stored.fields
  if (sent === null) return null
  const after = Object.entries({ ...customFieldsOf(stored), ...sent }).filter(([, text]) => text !== null)
  if (after.length > maxCustomFields) {
    const error = `must be at most ${maxCustomFields} with those that are stored, and would be ${after.length}. Clear some with null`
    throw invalid([{ field: 'fields', error }])
  }
  if (after.length === 0) return null
  return JSON.stringify(Object.fromEntries(after.sort(([a], [b]) => (a < b ? -1 : 1))))
}

const filterForm = new RegExp(`^(${customFieldName}):(.*)$`, 's')

/** Reads the `field` parameters of a list. The result says whether a row has all of these fields. */
export function customFieldFilter(given: readonly string[] = []): (row: RowWithFields) => boolean {
  const wanted = given.map((text) => {
    const [, name, value] = filterForm.exec(text) ?? []
    if (name !== undefined) return [name, value] as const
    throw invalid([{ field: 'field', error: 'must be the name of a custom field, a colon and its text: wall:B2' }])
  })
  if (wanted.length === 0) return () => true
  return (row) => {
    const fields = customFieldsOf(row)
    return fields !== null && wanted.every(([name, value]) => Object.hasOwn(fields, name) && fields[name] === value)
  }
}
