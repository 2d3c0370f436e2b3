// The identifiers that the query of a list names. [contract 7.ids]
import { maxListedIds } from '../../contract/shape.ts'
import { invalid } from '../core/failure.ts'

/** Undefined if the query names none. `read` returns undefined for any other text than an identifier. */
export function listedIds<T>(text: string | undefined, read: (id: string) => T | undefined): T[] | undefined {
  if (text === undefined) return undefined
  const ids = text.split(',').map((id) => read(id.trim()))
  const known = ids.filter((id) => id !== undefined)
  if (known.length === ids.length && ids.length <= maxListedIds) return [...new Set(known)]
  throw invalid([{ field: 'ids', error: `must be up to ${maxListedIds} identifiers, separated by commas` }])
}
