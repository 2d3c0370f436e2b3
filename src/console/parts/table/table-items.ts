// Lists the items of a long table in their order: headings of groups, rows, and the details of open rows.
import { compareText, naturalSortKey } from '../../../contract/search-text.ts'
import type { RowKey } from './row-selection.ts'

/** The rows of a group stand together, below a heading that hides and shows them. */
export interface RowGroup {
  readonly key: RowKey
  readonly name: string
}

export interface RowItem<T> {
  readonly kind: 'row' | 'details'
  readonly row: T
}
export interface HeadingItem {
  readonly kind: 'heading'
  readonly group: RowGroup
  readonly rowKeys: readonly RowKey[]
  readonly isOpen: boolean
}
export type TableItem<T> = RowItem<T> | HeadingItem

interface ItemOptions<T> {
  readonly keyOf: (row: T) => RowKey
  /** The rows whose details are open. */
  readonly opened: ReadonlySet<RowKey>
  /** Undefined for a table without groups. */
  readonly groupOf: ((row: T) => RowGroup) | undefined
  /** The groups whose rows are hidden. */
  readonly closed: ReadonlySet<RowKey>
}

/** Sorts the rows by the names of their groups; rows in no group come last. Within a group the order of the rows stays. */
export function inGroups<T>(rows: readonly T[], groupOf: (row: T) => RowGroup): readonly T[] {
  const groups = [...groupsOf(rows, groupOf).values()].map((one) => ({
    ...one,
    sortKey: naturalSortKey(one.group.name),
  }))
  return groups
    .sort(
      (a, b) => Number(a.group.key === noGroup) - Number(b.group.key === noGroup) || compareText(a.sortKey, b.sortKey),
    )
    .flatMap((group) => group.rows)
}

/** The rows are sorted by their groups. */
export function tableItems<T>(rows: readonly T[], options: ItemOptions<T>): readonly TableItem<T>[] {
  const { keyOf, opened, groupOf, closed } = options
  const itemsOf = (some: readonly T[]) =>
    some.flatMap((row): RowItem<T>[] =>
      opened.has(keyOf(row))
        ? [
            { row, kind: 'row' },
            { row, kind: 'details' },
          ]
        : [{ row, kind: 'row' }],
    )
  if (!groupOf) return itemsOf(rows)
  return [...groupsOf(rows, groupOf).values()].flatMap(({ group, rows: ofGroup }): TableItem<T>[] => {
    const isOpen = !closed.has(group.key)
    const heading: HeadingItem = { kind: 'heading', group, rowKeys: ofGroup.map(keyOf), isOpen }
    return [heading, ...(isOpen ? itemsOf(ofGroup) : [])]
  })
}

function groupsOf<T>(rows: readonly T[], groupOf: (row: T) => RowGroup) {
  const groups = new Map<RowKey, { readonly group: RowGroup; readonly rows: T[] }>()
  for (const row of rows) {
    const group = groupOf(row)
    const known = groups.get(group.key)
    if (known) known.rows.push(row)
    else groups.set(group.key, { group, rows: [row] })
  }
  return groups
}

/** The key of the group of rows that are in none. */
export const noGroup = 'none'
