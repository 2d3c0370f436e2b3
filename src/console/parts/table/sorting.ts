// Sorts the rows of a list, and reads and writes the sort order as a search parameter.

export interface Sort {
  readonly by: string
  readonly descending: boolean
}

/** "-people" sorts by people, descending. */
export function parseSort(text: string | undefined, defaultSort: Sort): Sort {
  if (!text) return defaultSort
  return text.startsWith('-') ? { by: text.slice(1), descending: true } : { by: text, descending: false }
}

/** Undefined for the default order, which keeps the address short. */
export const formatSort = ({ by, descending }: Sort, defaultSort: Sort): string | undefined =>
  by === defaultSort.by && descending === defaultSort.descending ? undefined : `${descending ? '-' : ''}${by}`

/** Null if a row has no value; such rows come last in either direction. */
export type SortKey<T> = (row: T) => number | string | null

/** The sort parameter of an address can name anything. */
export const sortKeyOf = <T>(keys: Readonly<Record<string, SortKey<T>>>, by: string): SortKey<T> | undefined =>
  Object.hasOwn(keys, by) ? keys[by] : undefined

export function sortRows<T>(
  rows: readonly T[],
  key: SortKey<T>,
  descending: boolean,
  tie: (a: T, b: T) => number,
): readonly T[] {
  const direction = descending ? -1 : 1
  return rows
    .map((row) => ({ row, key: key(row) }))
    .sort((a, b) => compare(a.key, b.key, direction) || tie(a.row, b.row))
    .map(({ row }) => row)
}

function compare(a: number | string | null, b: number | string | null, direction: number): number {
  if (a === b) return 0
  if (a === null) return 1
  if (b === null) return -1
  return (a < b ? -1 : 1) * direction
}
