// Which columns of a table are shown: what fits the window, and what the user has chosen. The browser remembers the choice.
import { useLocalStorage, useMediaQuery } from '@mantine/hooks'
import { useMemo } from 'react'
import type { Column } from './column.ts'

type Choice = Readonly<Record<string, boolean>>
const noChoice: Choice = {}

export interface ChosenColumns<T> {
  readonly shown: readonly Column<T>[]
  /** The columns in print and in exported files: those that are shown in the widest window. */
  readonly inFiles: readonly Column<T>[]
  readonly isCards: boolean
  readonly choose: (id: string, isShown: boolean) => void
}

/** Under 640 px a row is a card. */
export const useIsCards = (): boolean =>
  useMediaQuery('(max-width: 39.99em)', undefined, { getInitialValueInEffect: false })

/** A card has the columns that fit every window. The first column is always shown. */
export function useColumnChoice<T>(label: string, columns: readonly Column<T>[]): ChosenColumns<T> {
  const [choice, setChoice] = useLocalStorage<Choice>({
    key: `roomkeeper-columns-${label.toLowerCase()}`,
    defaultValue: noChoice,
    getInitialValueInEffect: false,
  })
  const isCards = useIsCards()
  const isMedium = useMediaQuery('(min-width: 75em)', undefined, { getInitialValueInEffect: false })
  const isWide = useMediaQuery('(min-width: 100em)', undefined, { getInitialValueInEffect: false })
  const isFull = useMediaQuery('(min-width: 120em)', undefined, { getInitialValueInEffect: false })
  const { shown, inFiles } = useMemo(() => {
    const chosen = (fits: Readonly<Record<NonNullable<Column<T>['from']>, boolean>>) =>
      columns.filter(({ id, from }, index) => index === 0 || (choice[id] ?? (from === undefined || fits[from])))
    return {
      shown: chosen({ medium: isMedium, wide: isWide, full: isFull, file: false, never: false }),
      inFiles: chosen({ medium: true, wide: true, full: true, file: true, never: false }),
    }
  }, [columns, choice, isMedium, isWide, isFull])
  return { shown, inFiles, isCards, choose: (id, isShown) => setChoice({ ...choice, [id]: isShown }) }
}
