// The order of a long list: what the address says of it, and the sorting itself.

export interface Sort {
  readonly by: string
  readonly descending: boolean
}

/** "-people" is by people, the most first. */
export function parseSort(text: string | undefined, usual: Sort): Sort {
  if (!text) return usual
  return text.startsWith('-') ? { by: text.slice(1), descending: true } : { by: text, descending: false }
}

/** Undefined for what holds anyway: the address stays short. */
export const formatSort = ({ by, descending }: Sort, usual: Sort): string | undefined =>
  by === usual.by && descending === usual.descending ? undefined : `${descending ? '-' : ''}${by}`

/** Null where there is nothing to compare: such rows come last, whichever way the list is sorted. */
export type SortKey<T> = (row: T) => number | string | null

export function sortRows<T>(
  rows: readonly T[],
  key: SortKey<T>,
  descending: boolean,
  tie: (a: T, b: T) => number,
): readonly T[] {
  const way = descending ? -1 : 1
  return rows
    .map((row) => ({ row, key: key(row) }))
    .sort((a, b) => compare(a.key, b.key, way) || tie(a.row, b.row))
    .map(({ row }) => row)
}

function compare(a: number | string | null, b: number | string | null, way: number): number {
  if (a === b) return 0
  if (a === null) return 1
  if (b === null) return -1
  return (a < b ? -1 : 1) * way
}
