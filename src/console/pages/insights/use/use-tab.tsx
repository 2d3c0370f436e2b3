// How rooms were used: by weekday and hour, the least and the most used rooms, and those that are too small or too large.

import { Button, Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { shareText } from '../../../../contract/reports/figure-texts.ts'
import type { UseRow } from '../../../../contract/reports/use.ts'
import { peopleFigure, quartersText } from '../../../domain/reports/figures.ts'
import { allRowsQuery } from '../../../domain/reports/report-query.ts'
import { hourTitle, hourUse, measuredHours, parseHour, sumWeeks } from '../../../domain/reports/week-use.ts'
import { EmptyState, Section } from '../../../parts/page/page.tsx'
import { FiguresList, type LargeFigure } from '../../../parts/text/figures-list.tsx'
import { plural } from '../../../parts/text/words.ts'
import type { InsightView } from '../insight-view.ts'
import classes from '../insights.module.css'
import { CsvButton } from '../parts/csv-button.tsx'
import { HeatMap } from '../parts/heat-map.tsx'
import { type RankedRoom, Ranking } from '../parts/ranking.tsx'
import { RoomButton } from '../parts/room-button.tsx'
import { WindowLine } from '../parts/window-line.tsx'
import { HourSection } from './hour-section.tsx'
import { UseTable } from './use-table.tsx'

const shownRooms = 5

export function UseTab({ view }: { readonly view: InsightView }) {
  const { filter, window, search, change } = view
  const report = useSuspenseQuery(allRowsQuery('reportsUse', filter)).data
  const measured = useMemo(() => report.rows.filter(({ use }) => use !== undefined), [report])
  const hour = parseHour(search.behind)
  return (
    <Stack gap="md">
      <WindowLine window={window} report={report} hasQuarters />
      {measured.length === 0 ? (
        <NothingMeasured view={view} rooms={report.rows.length} />
      ) : (
        <>
          <FiguresList figures={figuresOf(report.rows, measured)} />
          <div className={classes.columns}>
            <WeekSection view={view} rows={measured} hour={hour} />
            <Rankings view={view} rows={measured} />
          </div>
          {hour !== undefined && (
            <HourSection rows={measured} hourOfWeek={hour} view={view} onClose={() => change({ behind: undefined })} />
          )}
          <Sizes view={view} rows={measured} />
          <UseTable view={view} rows={report.rows} />
        </>
      )}
    </Stack>
  )
}

function NothingMeasured({
  view: { window, today, change },
  rooms,
}: {
  readonly view: InsightView
  readonly rooms: number
}) {
  if (rooms === 0)
    return (
      <EmptyState title="No rooms">
        No room that you can see matches these filters. Change the region, the location or the tag.
      </EmptyState>
    )
  return (
    <EmptyState title="No people were counted">
      No device in {plural(rooms, 'room')} counted people in this window.{' '}
      {window.to !== undefined && (
        <Button
          variant="default"
          size="xs"
          mt="sm"
          onClick={() => change({ month: today.slice(0, 7), from: undefined, to: undefined })}
        >
          Show this month so far
        </Button>
      )}
    </EmptyState>
  )
}

type SummedKey = 'measuredQuarters' | 'usedQuarters' | 'countedQuarters' | 'personQuarters' | 'seatQuarters'
const sumOf = (rows: readonly UseRow[], key: SummedKey) => rows.reduce((sum, row) => sum + (row[key] ?? 0), 0)

function figuresOf(all: readonly UseRow[], measured: readonly UseRow[]): LargeFigure[] {
  const use = sumOf(measured, 'usedQuarters') / sumOf(measured, 'measuredQuarters')
  const seats = sumOf(measured, 'seatQuarters')
  const week = sumWeeks(measured)
  const busiest = week.measured
    .map((_, at) => ({ at, use: hourUse(week, at) ?? -1 }))
    .reduce((best, one) => (one.use > best.use ? one : best))
  const withoutCapacity = measured.filter(({ capacity }) => capacity === undefined).length
  return [
    { name: 'Use', value: shareText(use), note: 'of the measured time' },
    {
      name: 'Seats used',
      value: shareText(seats === 0 ? undefined : sumOf(measured, 'personQuarters') / seats),
      note: withoutCapacity > 0 ? `without ${plural(withoutCapacity, 'room')} without a capacity` : 'while in use',
    },
    { name: 'Busiest hour', value: shareText(busiest.use), note: hourTitle(busiest.at) },
    {
      name: 'Rooms measured',
      value: measured.length.toLocaleString('en-GB'),
      note: `of ${all.length.toLocaleString('en-GB')}; ${shareText(
        sumOf(measured, 'measuredQuarters') / sumOf(measured, 'countedQuarters'),
      )} of their time`,
    },
  ]
}

interface PartProps {
  readonly view: InsightView
  readonly rows: readonly UseRow[]
}

function WeekSection({
  view: { filter, window, change },
  rows,
  hour,
}: PartProps & { readonly hour: number | undefined }) {
  const week = useMemo(() => sumWeeks(rows), [rows])
  const { days, hours } = useMemo(() => measuredHours([week]), [week])
  return (
    <Section
      title="Use by weekday and hour"
      actions={<CsvButton report="reportsUse" input={filter} of={`Use of rooms, ${window.title}`} />}
    >
      <HeatMap
        label="Use by weekday and hour, percent"
        days={days}
        hours={hours}
        shareOf={(at) => hourUse(week, at)}
        textOf={(at) => `${shareText(hourUse(week, at))} used`}
        chosen={hour}
        onChoose={(at) => change({ behind: at === undefined ? undefined : String(at) })}
      />
      <Text fz="xs" c="dimmed" mt="xs">
        Percent of the measured time in which the rooms were used.
        <span data-screen-only> A cell opens the rooms behind it.</span>
      </Text>
    </Section>
  )
}

const byUse = (a: UseRow, b: UseRow) =>
  (a.use ?? 0) - (b.use ?? 0) || (b.longestUnusedQuarters ?? 0) - (a.longestUnusedQuarters ?? 0)

function Rankings({ view, rows }: PartProps) {
  const ordered = useMemo(() => rows.filter(({ deletedAt }) => !deletedAt).toSorted(byUse), [rows])
  const { filter, window } = view
  return (
    <>
      <Section
        title="Least used"
        actions={
          <CsvButton
            report="reportsUse"
            input={{ ...filter, sort: 'use' }}
            of={`Rooms by use, least first, ${window.title}`}
          />
        }
      >
        <Ranking
          label="Least used"
          rooms={ordered.slice(0, shownRooms).map((row) => ranked(row, view))}
          empty="No rooms"
        />
      </Section>
      <Section
        title="Most used"
        actions={
          <CsvButton
            report="reportsUse"
            input={{ ...filter, sort: '-use' }}
            of={`Rooms by use, most first, ${window.title}`}
          />
        }
      >
        <Ranking
          label="Most used"
          rooms={ordered
            .toReversed()
            .slice(0, shownRooms)
            .map((row) => ranked(row, view))}
          empty="No rooms"
        />
      </Section>
    </>
  )
}

const ranked = (row: UseRow, view: InsightView): RankedRoom => ({
  key: row.room?.id ?? 0,
  name: <RoomButton row={row} view={view} />,
  place: row.location?.name,
  share: row.use ?? 0,
  value: shareText(row.use),
  note: [
    ...(row.longestUnusedQuarters ? [`empty for up to ${quartersText(row.longestUnusedQuarters)}`] : []),
    ...(row.peak === undefined ? [] : [`at most ${peopleFigure(row.peak)} people`]),
    ...(row.capacity === undefined ? [] : [plural(row.capacity, 'seat')]),
  ].join(' · '),
})

function Sizes({ view, rows }: PartProps) {
  const small = rows.filter(({ tooSmall }) => tooSmall)
  const large = rows.filter(({ tooLarge }) => tooLarge)
  const unknown = rows.filter(({ capacity }) => capacity === undefined).length
  const seatOrder = (a: UseRow, b: UseRow) => (b.seatUse ?? 0) - (a.seatUse ?? 0)
  const listOf = (chosen: readonly UseRow[]) =>
    chosen.map((row) => ({
      ...ranked(row, view),
      share: row.seatUse ?? 0,
      value: shareText(row.seatUse),
      note: `${peopleFigure(row.meanWhenUsed)} people when used, at most ${peopleFigure(row.peak)} · ${plural(row.capacity ?? 0, 'seat')}`,
    }))
  return (
    <div className={classes.pair}>
      <Section title={`Too small (${small.length})`}>
        <Ranking
          label="Too small"
          rooms={listOf(small.toSorted(seatOrder))}
          isException
          empty="No room had more people than seats in 5 % of its used time or more."
        />
      </Section>
      <Section title={`Too large (${large.length})`}>
        <Ranking
          label="Too large"
          rooms={listOf(large.toSorted((a, b) => seatOrder(b, a)))}
          empty="No room had at most a third of its seats taken in 95 % of its used time."
        />
      </Section>
      {unknown > 0 && (
        <Text fz="sm" c="dimmed" style={{ gridColumn: '1 / -1' }}>
          {plural(unknown, 'room has', 'rooms have')} no capacity, so nothing is said about their size. Both need 100
          used quarters of an hour.
        </Text>
      )}
    </div>
  )
}
