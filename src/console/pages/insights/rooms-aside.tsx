// Up to three rooms side by side: the use of each by weekday and hour on one scale, and their figures.

import { Button, MultiSelect, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { placedRoomName } from '../../../contract/fleet/room-name.ts'
import { shareText } from '../../../contract/reports/figure-texts.ts'
import type { UseRow } from '../../../contract/reports/use.ts'
import { useRoomChoices } from '../../domain/fleet/room/room-choices.ts'
import { peopleFigure, quartersText } from '../../domain/reports/figures.ts'
import { allRowsQuery } from '../../domain/reports/report-query.ts'
import { hourUse, measuredHours, parseHour } from '../../domain/reports/week-use.ts'
import { CrossIcon } from '../../parts/page/icons.tsx'
import { ErrorPanel, Section } from '../../parts/page/page.tsx'
import { Loading } from '../../parts/page/skeleton.tsx'
import type { InsightView } from './insight-view.ts'
import classes from './insights.module.css'
import { HeatMap } from './parts/heat-map.tsx'
import { formatRooms, maxRoomsAside, parseRooms } from './report-filter.ts'

export function RoomsAside({ view }: { readonly view: InsightView }) {
  const { search, change, filter } = view
  const ids = parseRooms(search.rooms)
  const { choices } = useRoomChoices()
  const { data, error, refetch } = useQuery({ ...allRowsQuery('reportsUse', filter), enabled: ids.length > 0 })
  const rows = ids.flatMap((id) => data?.rows.find(({ room }) => room?.id === id) ?? [])
  const box = useRef<HTMLDivElement>(null)
  const count = ids.length
  useEffect(() => {
    if (count > 0) box.current?.scrollIntoView({ block: 'nearest' })
  }, [count])
  return (
    <div ref={box}>
      <Section
        title="Rooms side by side"
        actions={
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<CrossIcon size={14} />}
            onClick={() => change({ rooms: undefined })}
          >
            Close
          </Button>
        }
      >
        <MultiSelect
          aria-label="Rooms side by side"
          placeholder={count < maxRoomsAside ? 'Add a room' : undefined}
          data={choices}
          value={ids.map(String)}
          onChange={(next) => change({ rooms: formatRooms(next.map(Number)) })}
          maxValues={maxRoomsAside}
          searchable
          limit={50}
          nothingFoundMessage="No matching rooms"
          mb="md"
        />
        {error && <ErrorPanel error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading />}
        {data && rows.length < ids.length && (
          <Text fz="sm" c="dimmed" mb="sm">
            A chosen room is not among the rooms of these filters.
          </Text>
        )}
        {data && <Aside rows={rows} view={view} />}
      </Section>
    </div>
  )
}

interface AsideProps {
  readonly rows: readonly UseRow[]
  readonly view: InsightView
}

function Aside({ rows, view: { search, change } }: AsideProps) {
  const weeks = rows.flatMap(({ week }) => week ?? [])
  const { days, hours } = measuredHours(weeks)
  const chosen = parseHour(search.behind)
  return (
    <div className={classes.columns}>
      {rows.map((row) => {
        const { week, room, location } = row
        return (
          <div key={room?.id}>
            <Text fw={600} mb={4}>
              <Link to="/rooms/$roomId" params={{ roomId: String(room?.id) }}>
                {room?.name}
              </Link>
              {location && (
                <Text span c="dimmed" fw={400}>
                  {' '}
                  · {location.name}
                </Text>
              )}
            </Text>
            {week && row.use !== undefined && (
              <HeatMap
                label={`Use of ${placedRoomName(room?.name ?? '', location?.name)} by weekday and hour, percent`}
                days={days}
                hours={hours}
                shareOf={(at) => hourUse(week, at)}
                textOf={(at) => `${shareText(hourUse(week, at))} used`}
                chosen={chosen}
                onChoose={(at) => change({ behind: at === undefined ? undefined : String(at) })}
              />
            )}
            <dl className={classes.pairs}>
              {figuresOf(row).map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          </div>
        )
      })}
    </div>
  )
}

const figuresOf = (row: UseRow): readonly (readonly [name: string, value: string])[] => [
  ['Use', shareText(row.use)],
  ['Seats used', shareText(row.seatUse)],
  ['People when used', peopleFigure(row.meanWhenUsed)],
  ['Peak', peopleFigure(row.peak)],
  ['Seats', row.capacity === undefined ? 'not set' : peopleFigure(row.capacity)],
  ['Longest empty', quartersText(row.longestUnusedQuarters)],
  ['Measured', shareText(row.coverage)],
]
