// A filter in the address of a list: "2", or "2,5" for rows with one of several values, or "!2,5" for rows with none of them.

export interface FilterValue {
  readonly values: readonly string[]
  /** Rows with none of the values. */
  readonly isNot: boolean
}

const noFilter: FilterValue = { values: [], isNot: false }

/** Values can contain the characters that the list is written with, such as a firmware version with a comma. */
const escaped = (value: string): string => value.replace(/[%,!]/g, (character) => escapes[character] ?? character)
const escapes: Readonly<Record<string, string>> = { '%': '%25', ',': '%2C', '!': '%21' }
const unescaped = (text: string): string => text.replace(/%(25|2C|21)/g, (code) => decodeURIComponent(code))

export function parseFilter(text: string | undefined): FilterValue {
  if (!text) return noFilter
  const isNot = text.startsWith('!')
  const values = (isNot ? text.slice(1) : text).split(',').filter(Boolean).map(unescaped)
  return { values, isNot }
}

/** Undefined if nothing is filtered. Values are sorted: the same choices are the same address, in whatever order they were made. */
export const formatFilter = ({ values, isNot }: FilterValue): string | undefined =>
  values.length === 0 ? undefined : (isNot ? '!' : '') + values.map(escaped).sort().join(',')

/** With the value if the filter does not have it, else without. */
export const toggleValue = ({ values, isNot }: FilterValue, value: string): FilterValue => ({
  values: values.includes(value) ? values.filter((one) => one !== value) : [...values, value],
  isNot,
})

type Test<T> = (row: T) => boolean

/** No test if the address has no filter, or none with a known value: a mistyped address filters nothing. */
export function filterTests<T, V extends string = string>(
  text: string | undefined,
  has: (row: T, value: V) => boolean,
  isKnown: (value: string) => value is V = (value): value is V => true,
): readonly Test<T>[] {
  const { values, isNot } = parseFilter(text)
  const known = values.filter(isKnown)
  const [only] = known
  if (only === undefined) return []
  if (known.length === 1) return [(row) => has(row, only) !== isNot]
  return [(row) => known.some((value) => has(row, value)) !== isNot]
}
