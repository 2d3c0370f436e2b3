// Which columns of a table are shown: what fits the window, and what the user has chosen. The address has the choice of a saved view, the browser remembers any other.
import { useLocalStorage, useMediaQuery } from '@mantine/hooks'
import { useMemo } from 'react'
import type { Column } from './column.ts'

/** Whether the user wants a column, by its id. Columns that are not in it are shown where they fit. */
export type ColumnChoice = Readonly<Record<string, boolean>>
const noChoice: ColumnChoice = {}

export interface ChosenColumns<T> {
  readonly shown: readonly Column<T>[]
  /** The columns in exported files, and in print unless they are empty: those that are shown in a window of 1920 px. */
  readonly inFiles: readonly Column<T>[]
  readonly isCards: boolean
  /** The ids of the columns that the user has chosen; undefined if the width of the window decides. */
  readonly chosenIds: readonly string[] | undefined
  readonly choose: (id: string, isShown: boolean) => void
}

/** The columns in the address of a page that shows a saved view. */
export interface ColumnsInAddress {
  readonly ids: readonly string[] | undefined
  readonly onChange: (ids: readonly string[]) => void
}

/** Reads the parameters `view` and `columns` of a list. Without them the browser keeps the columns. */
export function useColumnsInAddress(
  { view, columns }: { readonly view?: string; readonly columns?: string },
  change: (changes: { readonly columns: string }) => void,
): ColumnsInAddress | undefined {
  return useMemo(
    () =>
      view === undefined && columns === undefined
        ? undefined
        : { ids: columns?.split(',').filter(Boolean), onChange: (ids) => change({ columns: ids.join() }) },
    [view, columns, change],
  )
}

/** Columns for exported files only, and buttons, are not in a view. */
export const choiceOf = <T>(columns: readonly Column<T>[], ids: readonly string[]): ColumnChoice =>
  Object.fromEntries(
    columns.flatMap(({ id, from, isControl }): [string, boolean][] =>
      ids.includes(id) ? [[id, true]] : from === 'file' || isControl ? [] : [[id, false]],
    ),
  )

type Widths = Readonly<Record<'medium' | 'wide' | 'full' | 'extra', boolean>>
/** On paper there is no room for the extra columns of very wide windows. */
const fitsFiles = { medium: true, wide: true, full: true, extra: false, file: true }

/** The columns that the user wants, or that fit. Empty ones are among them and not shown, so a view that is saved today has them. */
export function chosenColumns<T>(columns: readonly Column<T>[], choice: ColumnChoice, widths: Widths) {
  const chosen = (fits: Readonly<Record<NonNullable<Column<T>['from']>, boolean>>) =>
    columns.filter(({ id, from }, index) => index === 0 || (choice[id] ?? (from === undefined || fits[from])))
  const wanted = chosen({ ...widths, file: false })
  return {
    wanted,
    shown: wanted.filter(({ isEmpty }) => !isEmpty),
    inFiles: chosen(fitsFiles),
  }
}

/** The ids of columns in a view. */
export const idsOf = <T>(columns: readonly Column<T>[]): readonly string[] =>
  columns.filter(({ isControl }) => !isControl).map(({ id }) => id)

/** The least width of a table that does not name one. */
const defaultMinWidthPx = 560
/** The margins of a page and of a section. */
const aroundTablePx = 68
/** The width from which the navigation is beside the page: there a table scrolls sideways rather than being cards. */
const maxCardsWindowPx = 991

/** In a window that is too narrow for the table, a row is a card. */
export const useIsCards = (minWidthPx = defaultMinWidthPx): boolean =>
  useMediaQuery(`(max-width: ${Math.min(minWidthPx + aroundTablePx, maxCardsWindowPx)}px)`, undefined, {
    getInitialValueInEffect: false,
  })

/** A card has the columns that fit every window. The first column is always shown. */
export function useColumnChoice<T>(
  label: string,
  columns: readonly Column<T>[],
  inAddress?: ColumnsInAddress,
  minWidthPx?: number,
): ChosenColumns<T> {
  const [stored, setStored] = useLocalStorage<ColumnChoice>({
    key: `roomkeeper-columns-${label.toLowerCase()}`,
    defaultValue: noChoice,
    getInitialValueInEffect: false,
  })
  const isCards = useIsCards(minWidthPx)
  const isMedium = useMediaQuery('(min-width: 75em)', undefined, { getInitialValueInEffect: false })
  const isWide = useMediaQuery('(min-width: 100em)', undefined, { getInitialValueInEffect: false })
  const isFull = useMediaQuery('(min-width: 120em)', undefined, { getInitialValueInEffect: false })
  const isExtra = useMediaQuery('(min-width: 140em)', undefined, { getInitialValueInEffect: false })
  const ids = inAddress?.ids
  const choice = useMemo(() => (ids ? choiceOf(columns, ids) : stored), [ids, columns, stored])
  const { wanted, shown, inFiles } = useMemo(
    () => chosenColumns(columns, choice, { medium: isMedium, wide: isWide, full: isFull, extra: isExtra }),
    [columns, choice, isMedium, isWide, isFull, isExtra],
  )
  return {
    shown,
    inFiles,
    isCards,
    chosenIds: ids ?? (isCards || Object.keys(stored).length === 0 ? undefined : idsOf(wanted)),
    choose: (id, isShown) => {
      if (!inAddress) setStored({ ...stored, [id]: isShown })
      else inAddress.onChange(idsOf(columns.filter((one) => (one.id === id ? isShown : wanted.includes(one)))))
    },
  }
}
