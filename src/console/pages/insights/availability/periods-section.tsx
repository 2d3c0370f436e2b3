// The periods that the availability of a room consists of; their seconds add up to the counted time.
import { Button, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { durationText } from '../../../../contract/duration-text.ts'
import { placedRoomName } from '../../../../contract/fleet/room-name.ts'
import { type AvailabilityRow, availabilityClasses } from '../../../../contract/reports/availability.ts'
import { operationQuery } from '../../../api.ts'
import { CrossIcon } from '../../../parts/page/icons.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { useIsPrinting } from '../../../parts/table/printed-table.tsx'
import { zonedTime } from '../../../parts/text/time.tsx'
import { useSession } from '../../../session.ts'
import type { InsightView } from '../insight-view.ts'
import { classTitles, secondsOf } from './sums.ts'

interface PeriodsSectionProps {
  readonly view: InsightView
  readonly row: AvailabilityRow
  readonly room: { readonly id: number; readonly name: string }
}

/** On the screen; paper has all. */
const maxRows = 200

export function PeriodsSection({ view: { filter, change }, row, room }: PeriodsSectionProps) {
  const { org } = useSession()
  const { from, to, hours } = filter
  const query = { from, ...(to !== undefined && { to }), ...(hours !== undefined && { hours }) }
  const { body } = useSuspenseQuery(
    operationQuery('reportsAvailability', { ...query, roomId: room.id, periods: true }),
  ).data
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    box.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  const zone = row.timezone ?? org.timezone
  const down = (body.periods ?? []).filter((period) => period.class !== 'up')
  const isPrinting = useIsPrinting()
  const shown = isPrinting ? down : down.slice(0, maxRows)
  // An answer leaves out the last periods of a room that has very many.
  const isCut = shown.length < down.length || body.omittedPeriods !== undefined
  const seconds = availabilityClasses
    .filter((one) => secondsOf(row, one) > 0)
    .map((one) => `${classTitles[one]} ${secondsOf(row, one).toLocaleString('en-GB')} s`)
  return (
    <div ref={box}>
      <Section
        title={`Periods of ${placedRoomName(room.name, row.location?.name)}`}
        actions={
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<CrossIcon size={14} />}
            onClick={() => change({ behind: undefined })}
          >
            Close
          </Button>
        }
      >
        <Text fz="sm" mb="xs">
          {seconds.join(' + ')} = {row.countedSeconds.toLocaleString('en-GB')} s.{' '}
          {row.deletedAt === undefined && (
            <Link to="/rooms/$roomId" params={{ roomId: String(room.id) }}>
              Open the room
            </Link>
          )}
        </Text>
        <DataTable
          label={`Periods of ${room.name}`}
          rows={shown}
          columns={[
            { id: 'from', title: 'From', cell: (period) => zonedTime(Date.parse(period.from), zone) },
            { id: 'to', title: 'To', cell: (period) => zonedTime(Date.parse(period.to), zone) },
            { id: 'class', title: 'Class', cell: (period) => classTitles[period.class] },
            {
              id: 'length',
              title: 'Length',
              isNumber: true,
              cell: (period) => durationText(period.seconds * 1000),
              sortValue: (period) => period.seconds,
            },
          ]}
          keyOf={(period) => `${period.from} ${period.class}`}
          maxHeightPx={420}
          empty="The room was up for all of the counted time."
        />
        {isCut && (
          <Text fz="xs" c="dimmed" mt="xs">
            The first {shown.length.toLocaleString('en-GB')} periods. Choose fewer days to see the others.
          </Text>
        )}
      </Section>
    </div>
  )
}
