// How the rooms of a location or a region were used in the last 7 days, and what their air was like. [contract 16.query]
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { AirRow } from '../../../contract/reports/air.ts'
import { noFigure, shareText } from '../../../contract/reports/figure-texts.ts'
import type { UseRow } from '../../../contract/reports/use.ts'
import { addDays, hoursText, todayIn } from '../../domain/reports/report-days.ts'
import { allRowsQuery } from '../../domain/reports/report-query.ts'
import { hourTitle, hourUse, sumWeeks } from '../../domain/reports/week-use.ts'
import { ErrorPanel, Section } from '../../parts/page/page.tsx'
import { FiguresList, type LargeFigure } from '../../parts/text/figures-list.tsx'
import { useSession } from '../../session.ts'

export type WeekPlace = { readonly locationId: number } | { readonly regionId: number }

/** Today, as far as it has come, is the seventh day. */
const lastWeekDays = 7

export interface LastWeek {
  readonly from: string
  readonly today: string
  readonly use: readonly UseRow[] | undefined
  readonly air: readonly AirRow[] | undefined
  /** The hours that count, in words. */
  readonly hours: string | undefined
  readonly error: unknown
  readonly retry: () => void
}

/** Rows are the rooms of a location, or the locations of a region. */
export function useLastWeek(place: WeekPlace): LastWeek {
  const { org } = useSession()
  const today = todayIn(org.timezone)
  const from = addDays(today, 1 - lastWeekDays)
  const query = { from, groupBy: 'locationId' in place ? 'room' : 'location', ...place } as const
  const use = useQuery(allRowsQuery('reportsUse', query))
  const air = useQuery(allRowsQuery('reportsAir', query))
  return {
    from,
    today,
    use: use.data?.rows,
    air: air.data?.rows,
    hours: use.data && hoursText(use.data),
    error: use.error ?? air.error,
    retry: () => void Promise.all([use.refetch(), air.refetch()]),
  }
}

interface LastWeekSectionProps {
  readonly week: LastWeek
  readonly place: WeekPlace
}

export function LastWeekSection({ week, place }: LastWeekSectionProps) {
  const { from, today, use, air, hours, error, retry } = week
  const search = {
    ...('locationId' in place ? { location: String(place.locationId) } : { region: String(place.regionId) }),
    ...{ from, to: today },
  }
  return (
    <Section
      title="Use and air, last 7 days"
      actions={
        <Text span fz="sm">
          <Link to="/insights" search={search}>
            Open in Insights
          </Link>
        </Text>
      }
    >
      {error && !(use && air) ? (
        <ErrorPanel error={error} onRetry={retry} />
      ) : (
        <>
          <FiguresList figures={[...figuresOfUse(use), ...figuresOfAir(air, search)]} />
          <Text fz="xs" c="dimmed" mt="xs">
            {hours ? `${hours}, on the clocks of each location.` : 'Reading the reports…'}
          </Text>
        </>
      )}
    </Section>
  )
}

/** Figures keep their places while they are read. */
const reading = '…'

const sum = <T,>(rows: readonly T[], of: (row: T) => number) => rows.reduce((total, row) => total + of(row), 0)

function figuresOfUse(rows: readonly UseRow[] | undefined): LargeFigure[] {
  if (!rows) return [asRead('Use'), asRead('Busiest hour')]
  const measured = sum(rows, (row) => row.measuredQuarters)
  if (measured === 0) return [{ name: 'Use', value: noFigure, note: 'No people were counted' }]
  const week = sumWeeks(rows)
  const busiest = week.measured
    .map((_, at) => ({ at, use: hourUse(week, at) ?? -1 }))
    .reduce((best, one) => (one.use > best.use ? one : best))
  return [
    { name: 'Use', value: shareText(sum(rows, (row) => row.usedQuarters) / measured), note: 'of the measured time' },
    { name: 'Busiest hour', value: shareText(busiest.use), note: hourTitle(busiest.at) },
  ]
}

function figuresOfAir(rows: readonly AirRow[] | undefined, search: object): LargeFigure[] {
  if (!rows) return [asRead('Air outside limits'), asRead('Worst air')]
  const measured = sum(rows, (row) => row.measuredQuarters)
  if (measured === 0) return [{ name: 'Air outside limits', value: noFigure, note: 'No air was measured' }]
  const worst = rows.reduce((a, b) => ((b.outsideShare ?? 0) > (a.outsideShare ?? 0) ? b : a))
  const outside = sum(rows, (row) => row.outsideQuarters)
  const share: LargeFigure = {
    name: 'Air outside limits',
    value: shareText(outside / measured),
    note: 'of the time in use',
  }
  if (outside === 0) return [share]
  return [
    share,
    {
      name: 'Worst air',
      value: shareText(worst.outsideShare),
      note: (
        <Link to="/insights" search={{ ...search, tab: 'air' }}>
          {worst.room?.name ?? worst.location?.name ?? 'Rooms without a location'}
        </Link>
      ),
    },
  ]
}

const asRead = (name: string): LargeFigure => ({ name, value: reading, note: reading })
