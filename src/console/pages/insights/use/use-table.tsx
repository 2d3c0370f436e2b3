// The table of all rooms with their figures of use.
import { Button } from '@mantine/core'
import { useMemo, useState } from 'react'
import { shareText } from '../../../../contract/reports/figure-texts.ts'
import type { UseRow } from '../../../../contract/reports/use.ts'
import { compareText, naturalSortKey } from '../../../../contract/search-text.ts'
import { peopleFigure, quartersText } from '../../../domain/reports/figures.ts'
import { Section } from '../../../parts/page/page.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { useIsPrinting } from '../../../parts/table/printed-table.tsx'
import { type Sort, sortRows } from '../../../parts/table/sorting.ts'
import { plural } from '../../../parts/text/words.ts'
import type { InsightView } from '../insight-view.ts'
import { CsvButton } from '../parts/csv-button.tsx'
import { RoomButton } from '../parts/room-button.tsx'

interface UseTableProps {
  readonly view: InsightView
  readonly rows: readonly UseRow[]
}

const shownFirst = 10

export function UseTable({ view, rows }: UseTableProps) {
  const columns = useMemo(() => columnsOf(view), [view])
  const [sort, setSort] = useState<Sort>({ by: 'room', descending: false })
  const [isWhole, setIsWhole] = useState(false)
  const isPrinting = useIsPrinting()
  const ordered = useMemo(() => {
    const key = columns.find(({ id }) => id === sort.by)?.sortValue
    return key ? sortRows(rows, key, sort.descending, byName) : rows
  }, [rows, columns, sort])
  const shown = isWhole || isPrinting ? ordered : ordered.slice(0, shownFirst)
  return (
    <Section
      title={`All rooms (${rows.length.toLocaleString('en-GB')})`}
      actions={
        <CsvButton report="reportsUse" input={view.filter} of={`Use of all rooms, ${view.window.title}`} view={view} />
      }
    >
      <DataTable
        label="Use of all rooms"
        rows={shown}
        columns={columns}
        keyOf={({ room }) => room?.id ?? 0}
        sort={sort}
        onSort={setSort}
        minWidthPx={820}
        {...(isWhole && { maxHeightPx: 640 })}
      />
      {shown.length < ordered.length && (
        <Button variant="default" size="xs" mt="sm" onClick={() => setIsWhole(true)}>
          Show all {plural(ordered.length, 'room')}
        </Button>
      )}
    </Section>
  )
}

const nameKey = ({ room }: UseRow) => naturalSortKey(room?.name ?? '')
const byName = (a: UseRow, b: UseRow) => compareText(nameKey(a), nameKey(b))

const columnsOf = (view: InsightView): readonly Column<UseRow>[] => [
  {
    id: 'room',
    title: 'Room',
    breaksWords: true,
    cell: (row) => <RoomButton row={row} view={view} />,
    sortValue: nameKey,
  },
  {
    id: 'location',
    title: 'Location',
    breaksWords: true,
    cell: ({ location }) => location?.name ?? '',
    sortValue: ({ location }) => location?.name ?? null,
  },
  figure('use', 'Use', ({ use }) => use, shareText, 'corner'),
  figure('seatUse', 'Seats used', ({ seatUse }) => seatUse, shareText),
  figure('meanWhenUsed', 'People when used', ({ meanWhenUsed }) => meanWhenUsed, peopleFigure),
  figure('peak', 'Peak', ({ peak }) => peak, peopleFigure),
  figure('capacity', 'Seats', ({ capacity }) => capacity, peopleFigure),
  figure('unused', 'Longest empty', ({ longestUnusedQuarters }) => longestUnusedQuarters, quartersText),
  figure('coverage', 'Measured', ({ coverage }) => coverage, shareText),
]

function figure(
  id: string,
  title: string,
  figureOf: (row: UseRow) => number | undefined,
  textOf: (value: number | undefined) => string,
  inCard?: 'corner',
): Column<UseRow> {
  return {
    ...{ id, title, isNumber: true },
    ...(inCard && { inCard }),
    cell: (row) => textOf(figureOf(row)),
    sortValue: (row) => figureOf(row) ?? null,
  }
}
