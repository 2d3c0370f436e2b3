// A list of rooms with a bar for each: the first five of an order, and the others behind a button.
import { Button, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { VisuallyHidden } from '../../../parts/page/visually-hidden.tsx'
import { useIsPrinting } from '../../../parts/table/printed-table.tsx'
import classes from './ranking.module.css'

export interface RankedRoom {
  readonly key: number
  readonly name: ReactNode
  readonly place: string | undefined
  /** Length of the bar, 0 to 1. */
  readonly share: number
  /** The figure at the end of the bar. */
  readonly value: string
  readonly note?: string | undefined
}

interface RankingProps {
  readonly label: string
  readonly rooms: readonly RankedRoom[]
  /** Colour is for exceptions. */
  readonly isException?: boolean
  readonly empty: string
}

/** More rooms are behind a button; paper has all. */
const shownFirst = 5

export function Ranking({ label, rooms, isException = false, empty }: RankingProps) {
  const [isWhole, setIsWhole] = useState(false)
  const isPrinting = useIsPrinting()
  if (rooms.length === 0)
    return (
      <Text c="dimmed" fz="sm">
        {empty}
      </Text>
    )
  const shown = isWhole || isPrinting ? rooms : rooms.slice(0, shownFirst)
  return (
    <>
      <ol className={classes.ranking} aria-label={label} data-exception={isException || undefined}>
        {shown.map(({ key, name, place, share, value, note }) => (
          <li key={key}>
            <span className={classes.name}>
              {name}
              {place && <span className={classes.place}> · {place}</span>}
            </span>
            <span className={classes.value}>{value}</span>
            <span className={classes.bar} aria-hidden="true">
              <span style={{ width: `${Math.min(1, share) * 100}%` }} />
            </span>
            {note && (
              <span className={classes.note}>
                <VisuallyHidden>, </VisuallyHidden>
                {note}
              </span>
            )}
          </li>
        ))}
      </ol>
      {shown.length < rooms.length && (
        <Button variant="subtle" size="compact-sm" mt="xs" onClick={() => setIsWhole(true)}>
          Show all {rooms.length.toLocaleString('en-GB')}
        </Button>
      )}
    </>
  )
}
