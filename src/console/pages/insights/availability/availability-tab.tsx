// Whether rooms were available: each location beside the target, what was excluded, and the periods of a room.
import { Button, Group, Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { durationText } from '../../../../contract/duration-text.ts'
import type { AvailabilityRow } from '../../../../contract/reports/availability.ts'
import { availabilityText, shareText } from '../../../../contract/reports/figure-texts.ts'
import { allRowsQuery } from '../../../domain/reports/report-query.ts'
import { EmptyState, LoadingBoundary, Section } from '../../../parts/page/page.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { useIsPrinting } from '../../../parts/table/printed-table.tsx'
import { FiguresList } from '../../../parts/text/figures-list.tsx'
import { plural } from '../../../parts/text/words.ts'
import type { InsightView } from '../insight-view.ts'
import classes from '../insights.module.css'
import { CsvButton } from '../parts/csv-button.tsx'
import { WindowLine } from '../parts/window-line.tsx'
import { PeriodsSection } from './periods-section.tsx'
import { classTitles, type LocationSum, leftOutClasses, sumLocations, sumRows } from './sums.ts'
import { TargetBar } from './target-bar.tsx'

const shownFirst = 10

export function AvailabilityTab({ view }: { readonly view: InsightView }) {
  const { filter, window, search, change } = view
  const report = useSuspenseQuery(allRowsQuery('reportsAvailability', filter)).data
  const target = report.availabilityTarget / 100
  const { rows } = report
  const sum = useMemo(() => sumRows(rows, report.availabilityTarget), [rows, report.availabilityTarget])
  const locations = useMemo(() => sumLocations(rows, report.availabilityTarget), [rows, report.availabilityTarget])
  const worst = useMemo(() => rows.toSorted((a, b) => (a.availability ?? 2) - (b.availability ?? 2)), [rows])
  const [isWhole, setIsWhole] = useState(false)
  const isPrinting = useIsPrinting()
  if (rows.length === 0)
    return (
      <EmptyState title="No rooms">
        No room that you can see matches these filters. Change the region, the location or the tag.
      </EmptyState>
    )
  const opened = rows.find(({ room }) => room !== undefined && search.behind === `room-${room.id}`)
  const shown = isWhole || isPrinting ? worst : worst.slice(0, shownFirst)
  const isMissed = sum.isTargetMet === false
  return (
    <Stack gap="md">
      <WindowLine window={window} report={report} hasQuarters={false} />
      <FiguresList
        figures={[
          {
            name: 'Availability',
            value: availabilityText(sum.availability),
            note: `target ${report.availabilityTarget} %${sum.availability === undefined ? '' : isMissed ? ', missed' : ', kept'}`,
            isException: isMissed,
          },
          {
            name: 'Rooms below target',
            value: sum.belowTarget.toLocaleString('en-GB'),
            note: `of ${plural(rows.length, 'room')}`,
          },
          { name: 'Charged', value: durationText(sum.seconds.charged * 1000), note: plural(sum.outages, 'outage') },
          { name: 'Longest outage', value: durationText(sum.longestOutageSeconds * 1000) },
        ]}
      />
      <Section
        title="By location"
        actions={
          <CsvButton
            report="reportsAvailability"
            input={{ ...filter, groupBy: 'location', sort: 'availability' }}
            of={`Availability of locations, ${window.title}`}
            saveAs="locations"
            view={view}
          />
        }
      >
        <DataTable
          label="Availability by location"
          rows={locations}
          columns={locationColumns(target, (id) => change({ location: String(id), behind: undefined }))}
          keyOf={({ id }) => id ?? 0}
          minWidthPx={700}
          maxHeightPx={480}
        />
        <Text fz="xs" c="dimmed" mt="xs">
          The line in a bar is the target. Excluded time counts neither as up nor as down. Interruptions of less than{' '}
          {report.ignoreUnderMinutes} minutes count as up.
        </Text>
      </Section>
      <Section title="What was excluded">
        <DataTable
          label="What was excluded"
          rows={leftOutClasses}
          columns={[
            { id: 'class', title: 'Class', cell: (one) => classTitles[one] },
            { id: 'time', title: 'Time', isNumber: true, cell: (one) => durationText(sum.seconds[one] * 1000) },
            {
              id: 'share',
              title: 'Of the window',
              isNumber: true,
              cell: (one) => shareText(sum.counted === 0 ? undefined : sum.seconds[one] / sum.counted),
            },
          ]}
          keyOf={(one) => one}
        />
      </Section>
      {opened?.room && (
        <LoadingBoundary key={opened.room.id}>
          <PeriodsSection view={view} row={opened} room={opened.room} />
        </LoadingBoundary>
      )}
      <Section
        title="Rooms, the worst first"
        actions={
          <CsvButton
            report="reportsAvailability"
            input={{ ...filter, sort: 'availability' }}
            of={`Availability of rooms, ${window.title}`}
            view={view}
          />
        }
      >
        <DataTable
          label="Availability of rooms"
          rows={shown}
          columns={roomColumns(target, (id) => change({ behind: `room-${id}` }))}
          keyOf={({ room }) => room?.id ?? 0}
          minWidthPx={760}
          {...(isWhole && { maxHeightPx: 640 })}
        />
        {shown.length < rows.length && (
          <Button variant="default" size="xs" mt="sm" onClick={() => setIsWhole(true)}>
            Show all {plural(rows.length, 'room')}
          </Button>
        )}
      </Section>
    </Stack>
  )
}

interface AvailabilityCellProps {
  readonly of: Pick<AvailabilityRow, 'availability' | 'isTargetMet'> | LocationSum
  readonly target: number
}

const AvailabilityCell = ({ of: { availability, isTargetMet }, target }: AvailabilityCellProps) =>
  availability === undefined ? (
    '–'
  ) : (
    <Group gap="sm" wrap="nowrap" justify="flex-end" component="span">
      <TargetBar availability={availability} target={target} isMissed={isTargetMet === false} />
      <span className={isTargetMet === false ? classes.exception : undefined}>{availabilityText(availability)}</span>
    </Group>
  )

const targetText = (isTargetMet: boolean | undefined) =>
  isTargetMet === undefined ? 'Not known' : isTargetMet ? 'Kept' : 'Missed'

const duration = (seconds: number) => (seconds === 0 ? '–' : durationText(seconds * 1000))

const excludedSeconds = (seconds: LocationSum['seconds']) =>
  leftOutClasses.reduce((sum, one) => sum + (one === 'notKnown' ? 0 : seconds[one]), 0)

const locationColumns = (target: number, onOpen: (id: number) => void): readonly Column<LocationSum>[] => [
  {
    id: 'location',
    title: 'Location',
    breaksWords: true,
    cell: ({ id, name }) =>
      id === undefined ? (
        name
      ) : (
        <button type="button" className={classes.link} onClick={() => onOpen(id)}>
          {name}
        </button>
      ),
    sortValue: ({ name }) => name,
  },
  {
    id: 'availability',
    title: 'Availability',
    isNumber: true,
    cell: (row) => <AvailabilityCell of={row} target={target} />,
    sortValue: ({ availability }) => availability ?? null,
  },
  { id: 'target', title: 'Target', cell: (row) => targetText(row.isTargetMet) },
  {
    id: 'below',
    title: 'Rooms below',
    isNumber: true,
    cell: ({ belowTarget, rooms }) => `${belowTarget} of ${rooms}`,
    sortValue: ({ belowTarget }) => belowTarget,
  },
  {
    id: 'charged',
    title: 'Charged',
    isNumber: true,
    cell: ({ seconds }) => duration(seconds.charged),
    sortValue: ({ seconds }) => seconds.charged,
  },
  {
    id: 'excluded',
    title: 'Excluded',
    isNumber: true,
    cell: ({ seconds }) => duration(excludedSeconds(seconds)),
    sortValue: ({ seconds }) => excludedSeconds(seconds),
  },
  {
    id: 'notKnown',
    title: 'Not known',
    isNumber: true,
    cell: ({ seconds }) => duration(seconds.notKnown),
    sortValue: ({ seconds }) => seconds.notKnown,
  },
]

const roomColumns = (target: number, onOpen: (id: number) => void): readonly Column<AvailabilityRow>[] => [
  {
    id: 'room',
    title: 'Room',
    breaksWords: true,
    cell: ({ room, deletedAt }) =>
      room && (
        <button type="button" className={classes.link} onClick={() => onOpen(room.id)}>
          {room.name}
          {deletedAt && ' (deleted)'}
        </button>
      ),
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
    id: 'availability',
    title: 'Availability',
    isNumber: true,
    cell: (row) => <AvailabilityCell of={row} target={target} />,
    sortValue: ({ availability }) => availability ?? null,
  },
  ...(
    [
      ['outages', 'Outages', ({ outages }) => outages, String],
      ['longest', 'Longest', ({ longestOutageSeconds }) => longestOutageSeconds, duration],
      ['charged', 'Charged', ({ chargedSeconds }) => chargedSeconds, duration],
      ['short', 'Short', ({ shortSeconds }) => shortSeconds, duration],
      ['impaired', 'Impaired', ({ impairedSeconds }) => impairedSeconds, duration],
    ] as const satisfies readonly (readonly [string, string, (row: AvailabilityRow) => number, (n: number) => string])[]
  ).map(
    ([id, title, figureOf, textOf]): Column<AvailabilityRow> => ({
      ...{ id, title, isNumber: true },
      cell: (row) => textOf(figureOf(row)),
      sortValue: figureOf,
    }),
  ),
]
