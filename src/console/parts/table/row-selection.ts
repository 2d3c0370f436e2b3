// The selected rows of a list, including rows that are not rendered or that the filters hide.
import { useCallback, useMemo } from 'react'
import { useKeptState } from '../page/kept-state.ts'

export type RowKey = string | number

export interface PickedRows {
  readonly keys: ReadonlySet<RowKey>
  /** The row at which a range starts; undefined before the first row was picked. */
  readonly anchor: RowKey | undefined
  /** The keys without the range, so a range can shrink again. */
  readonly withoutRange: ReadonlySet<RowKey>
}

const noKeys: ReadonlySet<RowKey> = new Set()
export const nothingPicked: PickedRows = { keys: noKeys, anchor: undefined, withoutRange: noKeys }

export function toggled({ keys }: PickedRows, key: RowKey): PickedRows {
  const next = new Set(keys)
  if (!next.delete(key)) next.add(key)
  return { keys: next, anchor: key, withoutRange: next }
}

/** Selects the rows from the anchor to `to`. Without an anchor among the shown rows the range starts at `from`. */
export function extended(picked: PickedRows, shown: readonly RowKey[], from: RowKey, to: RowKey): PickedRows {
  const hasAnchor = picked.anchor !== undefined && shown.includes(picked.anchor)
  const anchor = hasAnchor ? (picked.anchor as RowKey) : from
  const withoutRange = hasAnchor ? picked.withoutRange : picked.keys
  const ends = [shown.indexOf(anchor), shown.indexOf(to)].sort((a, b) => a - b) as [number, number]
  return { keys: new Set([...withoutRange, ...shown.slice(ends[0], ends[1] + 1)]), anchor, withoutRange }
}

export interface RowSelection {
  readonly keys: ReadonlySet<RowKey>
  /** How many of the shown rows are selected. */
  readonly shownCount: number
  readonly matchCount: number
  readonly toggle: (key: RowKey) => void
  readonly extend: (from: RowKey, to: RowKey) => void
  /** Selects all rows that match, or none of them. Rows that the filters hide stay as they are. */
  readonly setAll: (isSelected: boolean) => void
  /** Selects these rows, or none of them. */
  readonly setSome: (keys: readonly RowKey[], isSelected: boolean) => void
  readonly clear: () => void
}

/** `shown` has the keys of all rows that match, in their order. The selection is there again when the user comes back to the list. */
export function useRowSelection(list: string, shown: readonly RowKey[]): RowSelection {
  const [picked, setPicked] = useKeptState(`selected ${list}`, nothingPicked)
  const { keys } = picked
  const toggle = useCallback((key: RowKey) => setPicked((before) => toggled(before, key)), [setPicked])
  const extend = useCallback(
    (from: RowKey, to: RowKey) => setPicked((before) => extended(before, shown, from, to)),
    [setPicked, shown],
  )
  const setSome = useCallback(
    (some: readonly RowKey[], isSelected: boolean) =>
      setPicked((before) => {
        const next = isSelected ? before.keys.union(new Set(some)) : before.keys.difference(new Set(some))
        return { keys: next, anchor: undefined, withoutRange: next }
      }),
    [setPicked],
  )
  const setAll = useCallback((isSelected: boolean) => setSome(shown, isSelected), [setSome, shown])
  const clear = useCallback(() => setPicked(nothingPicked), [setPicked])
  const shownCount = useMemo(
    () => (keys.size === 0 ? 0 : shown.reduce<number>((count, key) => (keys.has(key) ? count + 1 : count), 0)),
    [shown, keys],
  )
  return useMemo(
    () => ({ keys, shownCount, matchCount: shown.length, toggle, extend, setAll, setSome, clear }),
    [keys, shownCount, shown.length, toggle, extend, setAll, setSome, clear],
  )
}
