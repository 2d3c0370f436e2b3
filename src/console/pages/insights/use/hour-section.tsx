// The rooms behind an hour of the week, with the use of that hour.

import { Button, Group, Text } from '@mantine/core'
import { useEffect, useMemo, useRef } from 'react'
import { shareText } from '../../../../contract/reports/figure-texts.ts'
import type { UseRow } from '../../../../contract/reports/use.ts'
import { quartersText } from '../../../domain/reports/figures.ts'
import { hourQuery, hourTitle } from '../../../domain/reports/week-use.ts'
import { CrossIcon } from '../../../parts/page/icons.tsx'
import { Section } from '../../../parts/page/page.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { useIsPrinting } from '../../../parts/table/printed-table.tsx'
import type { InsightView } from '../insight-view.ts'
import { CsvButton } from '../parts/csv-button.tsx'
import { RoomButton } from '../parts/room-button.tsx'

interface HourSectionProps {
  readonly view: InsightView
  readonly rows: readonly UseRow[]
  readonly hourOfWeek: number
  readonly onClose: () => void
}

interface HourRow {
  readonly row: UseRow
  readonly measured: number
  readonly used: number
}

/** On the screen; paper has all. */
const maxRows = 100

export function HourSection({ view, rows, hourOfWeek, onClose }: HourSectionProps) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    box.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  const found = useMemo(
    () =>
      rows
        .flatMap((row): HourRow[] => {
          const measured = row.week?.measured[hourOfWeek] ?? 0
          return measured === 0 ? [] : [{ row, measured, used: row.week?.used[hourOfWeek] ?? 0 }]
        })
        .sort((a, b) => b.used / b.measured - a.used / a.measured),
    [rows, hourOfWeek],
  )
  const columns = useMemo(() => hourColumns(view), [view])
  const isPrinting = useIsPrinting()
  const shown = isPrinting ? found : found.slice(0, maxRows)
  return (
    <div ref={box}>
      <Section
        title={hourTitle(hourOfWeek)}
        actions={
          <Group gap="xs">
            <CsvButton
              report="reportsUse"
              input={{ ...view.filter, ...hourQuery(hourOfWeek), sort: '-use' }}
              of={`Use on ${hourTitle(hourOfWeek)}, ${view.window.title}`}
            />
            <Button variant="subtle" size="compact-sm" leftSection={<CrossIcon size={14} />} onClick={onClose}>
              Close
            </Button>
          </Group>
        }
      >
        <DataTable
          label={hourTitle(hourOfWeek)}
          rows={shown}
          columns={columns}
          keyOf={({ row }) => row.room?.id ?? 0}
          maxHeightPx={420}
        />
        {found.length > shown.length && (
          <Text fz="xs" c="dimmed" mt="xs">
            The {maxRows} most used of {found.length.toLocaleString('en-GB')} rooms; the CSV has all.
          </Text>
        )}
      </Section>
    </div>
  )
}

const hourColumns = (view: InsightView): readonly Column<HourRow>[] => [
  {
    id: 'room',
    title: 'Room',
    breaksWords: true,
    cell: ({ row }) => <RoomButton row={row} view={view} />,
    sortValue: ({ row }) => row.room?.name ?? null,
  },
  {
    id: 'location',
    title: 'Location',
    breaksWords: true,
    cell: ({ row }) => row.location?.name ?? '',
    sortValue: ({ row }) => row.location?.name ?? null,
  },
  {
    id: 'use',
    title: 'Use',
    isNumber: true,
    inCard: 'corner',
    cell: ({ used, measured }) => shareText(used / measured),
    sortValue: ({ used, measured }) => used / measured,
  },
  {
    id: 'used',
    title: 'Used',
    isNumber: true,
    cell: ({ used }) => quartersText(used),
    sortValue: ({ used }) => used,
  },
  {
    id: 'measured',
    title: 'Measured',
    isNumber: true,
    cell: ({ measured }) => quartersText(measured),
    sortValue: ({ measured }) => measured,
  },
]
