// For how long the air of rooms was outside of its limits: the worst rooms, and all of them by sensor.
import { Button, Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState } from 'react'
import { sensorLabels } from '../../../../contract/device/sensor-texts.ts'
import { type AirRow, airFields } from '../../../../contract/reports/air.ts'
import { noFigure, shareText } from '../../../../contract/reports/figure-texts.ts'
import { quartersText } from '../../../domain/reports/figures.ts'
import { addDays, dayTitle } from '../../../domain/reports/report-days.ts'
import { allRowsQuery } from '../../../domain/reports/report-query.ts'
import { hourRange } from '../../../domain/reports/week-use.ts'
import { EmptyState, Section } from '../../../parts/page/page.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { useIsPrinting } from '../../../parts/table/printed-table.tsx'
import { FiguresList } from '../../../parts/text/figures-list.tsx'
import { plural } from '../../../parts/text/words.ts'
import type { InsightView } from '../insight-view.ts'
import { CsvButton } from '../parts/csv-button.tsx'
import { Ranking } from '../parts/ranking.tsx'
import { WindowLine } from '../parts/window-line.tsx'

const shownFirst = 10

export function AirTab({ view }: { readonly view: InsightView }) {
  const { filter, window, today } = view
  const days = useMemo(
    () => ({ from: window.from, to: window.to === undefined ? today : addDays(window.to, -1) }),
    [window, today],
  )
  const columns = useMemo(() => columnsOf(days), [days])
  const report = useSuspenseQuery(allRowsQuery('reportsAir', filter)).data
  const { rows } = report
  const measured = useMemo(
    () =>
      rows
        .filter(({ outsideShare }) => outsideShare !== undefined)
        .toSorted((a, b) => (b.outsideShare ?? 0) - (a.outsideShare ?? 0)),
    [rows],
  )
  const [isWhole, setIsWhole] = useState(false)
  const isPrinting = useIsPrinting()
  if (measured.length === 0)
    return (
      <EmptyState title={rows.length === 0 ? 'No rooms' : 'No air was measured'}>
        {rows.length === 0
          ? 'No room that you can see matches these filters. Change the region, the location or the tag.'
          : `No device in ${plural(rows.length, 'room')} measured the air in this window.`}
      </EmptyState>
    )
  const outside = measured.filter(({ outsideQuarters }) => outsideQuarters > 0)
  const sumOf = (key: 'measuredQuarters' | 'outsideQuarters') => measured.reduce((sum, row) => sum + row[key], 0)
  const shown = isWhole || isPrinting ? measured : measured.slice(0, shownFirst)
  return (
    <Stack gap="md">
      <WindowLine window={window} report={report} hasQuarters />
      <FiguresList
        figures={[
          {
            name: 'Outside limits',
            value: shareText(sumOf('outsideQuarters') / sumOf('measuredQuarters')),
            note: basisText(measured),
          },
          {
            name: 'Rooms outside',
            value: outside.length.toLocaleString('en-GB'),
            note: `of ${measured.length} measured`,
          },
          { name: 'Time outside', value: quartersText(sumOf('outsideQuarters')), note: 'of all rooms together' },
        ]}
      />
      <Section
        title="Worst air"
        actions={
          <CsvButton
            report="reportsAir"
            input={{ ...filter, sort: '-outsideShare' }}
            of={`Air of rooms, worst first, ${window.title}`}
            view={view}
          />
        }
      >
        <Ranking
          label="Worst air"
          isException
          empty="No room was outside of its limits."
          rooms={outside.map((row) => ({
            key: row.room?.id ?? 0,
            name: <RoomOfRow row={row} days={days} />,
            place: row.location?.name,
            share: row.outsideShare ?? 0,
            value: shareText(row.outsideShare),
            note: [
              ...airFields.flatMap((field) =>
                row[field]?.outsideShare ? [`${sensorLabels[field].name} ${shareText(row[field].outsideShare)}`] : [],
              ),
              ...(row.worstDay ? [`worst on ${dayTitle(row.worstDay)}`] : []),
              ...(row.worstHour === undefined ? [] : [`at ${hourRange(row.worstHour)}`]),
            ].join(' · '),
          }))}
        />
      </Section>
      <Section title={`All rooms with measured air (${measured.length.toLocaleString('en-GB')})`}>
        <DataTable
          label="Air of all rooms"
          rows={shown}
          columns={columns}
          keyOf={({ room }) => room?.id ?? 0}
          minWidthPx={820}
          {...(isWhole && { maxHeightPx: 640 })}
        />
        {shown.length < measured.length && (
          <Button variant="default" size="xs" mt="sm" onClick={() => setIsWhole(true)}>
            Show all {plural(measured.length, 'room')}
          </Button>
        )}
        <Text fz="xs" c="dimmed" mt="xs">
          Share of the used time outside of today’s limits; where people are not counted, of all measured time.
        </Text>
      </Section>
    </Stack>
  )
}

/** A room without a device that counts people is judged by all of its measured time. */
function basisText(rows: readonly AirRow[]): string {
  const counting = rows.filter(({ basis }) => basis !== 'measured').length
  if (counting === rows.length) return 'of the time in use'
  return counting === 0 ? 'of the measured time' : 'of the time in use; without counted people, of the measured time'
}

interface Days {
  readonly from: string
  /** The last day. */
  readonly to: string
}

interface RoomOfRowProps {
  readonly row: AirRow
  readonly days: Days
  readonly children?: ReactNode
}

/** The page of the room shows the air of these days as a chart. */
const RoomOfRow = ({ row: { room, deletedAt }, days, children = room?.name }: RoomOfRowProps) =>
  room && !deletedAt ? (
    <Link to="/rooms/$roomId" params={{ roomId: String(room.id) }} search={{ ...days }}>
      {children}
    </Link>
  ) : (
    <>
      {children}
      {children === room?.name && ' (deleted)'}
    </>
  )

const columnsOf = (days: Days): readonly Column<AirRow>[] => [
  {
    id: 'room',
    title: 'Room',
    breaksWords: true,
    cell: (row) => <RoomOfRow row={row} days={days} />,
    sortValue: ({ room }) => room?.name ?? null,
  },
  {
    id: 'location',
    title: 'Location',
    breaksWords: true,
    cell: ({ location }) => location?.name ?? '',
    sortValue: ({ location }) => location?.name ?? null,
  },
  {
    id: 'outside',
    title: 'Outside',
    isNumber: true,
    inCard: 'corner',
    cell: ({ outsideShare }) => shareText(outsideShare),
    sortValue: ({ outsideShare }) => outsideShare ?? null,
  },
  ...airFields.map(
    (field): Column<AirRow> => ({
      id: field,
      title: sensorLabels[field].name,
      isNumber: true,
      cell: (row) => shareText(row[field]?.outsideShare),
      sortValue: (row) => row[field]?.outsideShare ?? null,
    }),
  ),
  {
    id: 'basis',
    title: 'Basis',
    cell: ({ basis }) => (basis === 'measured' ? 'measured time' : 'time in use'),
  },
  {
    id: 'worst',
    title: 'Worst day',
    cell: (row) =>
      row.worstDay ? (
        <RoomOfRow row={row} days={{ from: row.worstDay, to: row.worstDay }}>
          {dayTitle(row.worstDay)}
        </RoomOfRow>
      ) : (
        noFigure
      ),
    sortValue: ({ worstDay }) => worstDay ?? null,
  },
]
