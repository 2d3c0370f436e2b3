// Incidents by cause, how long people and causes took, and repeat offenders.
import { Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { durationText } from '../../../../contract/duration-text.ts'
import { ruleNames } from '../../../../contract/incidents/rule-names.ts'
import { noFigure } from '../../../../contract/reports/figure-texts.ts'
import type { IncidentReportRow, RepeatOffender } from '../../../../contract/reports/incidents.ts'
import { type RoomNameOf, useRoomNames } from '../../../domain/fleet/room/room-names.ts'
import { allRowsQuery } from '../../../domain/reports/report-query.ts'
import { EmptyState, Section } from '../../../parts/page/page.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { FiguresList } from '../../../parts/text/figures-list.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import type { InsightView } from '../insight-view.ts'
import { CsvButton } from '../parts/csv-button.tsx'

const duration = (seconds: number | undefined) => (seconds === undefined ? noFigure : durationText(seconds * 1000))

export function IncidentsTab({ view }: { readonly view: InsightView }) {
  const { filter, window } = view
  // Incidents count at any hour.
  const { hours: _, ...query } = filter
  const roomNameOf = useRoomNames()
  const { counts, rows, repeatOffenders } = useSuspenseQuery(allRowsQuery('reportsIncidents', query)).data
  if (counts.incidents === 0)
    return <EmptyState title="No incidents">No incident opened in {window.title} in these places.</EmptyState>
  return (
    <Stack gap="md">
      <Text fz="sm" c="dimmed">
        Incidents that opened in {window.title}, at any hour, without those that became part of a larger one.
      </Text>
      <FiguresList
        figures={[
          { name: 'Incidents', value: counts.incidents.toLocaleString('en-GB'), note: `${counts.open} open now` },
          {
            name: 'Acknowledged within',
            value: duration(counts.acknowledgeMedianSeconds),
            note: `half of ${counts.acknowledged}; 90 % within ${duration(counts.acknowledgeP90Seconds)}`,
          },
          {
            name: 'Ended within',
            value: duration(counts.endMedianSeconds),
            note: `half of ${counts.ended}; 90 % within ${duration(counts.endP90Seconds)}`,
          },
        ]}
      />
      <Section
        title="By cause"
        actions={
          <CsvButton report="reportsIncidents" input={query} of={`Incidents by cause, ${window.title}`} view={view} />
        }
      >
        <DataTable
          label="Incidents by cause"
          rows={rows}
          columns={causeColumns}
          keyOf={({ rule }) => rule ?? ''}
          minWidthPx={700}
        />
      </Section>
      <Section title="Repeat offenders">
        <DataTable
          label="Repeat offenders"
          rows={repeatOffenders}
          columns={offenderColumns(roomNameOf)}
          keyOf={({ rule, endpoint, room }) => `${rule} ${endpoint?.id ?? ''} ${room?.id ?? ''}`}
          maxHeightPx={480}
          empty="No device or room had three incidents of one rule."
        />
      </Section>
    </Stack>
  )
}

const causeColumns: readonly Column<IncidentReportRow>[] = [
  {
    id: 'rule',
    title: 'Cause',
    breaksWords: true,
    cell: ({ rule }) =>
      rule && (
        <Link to="/incidents" search={{ state: 'all', rule }}>
          {ruleNames[rule]}
        </Link>
      ),
  },
  {
    id: 'incidents',
    title: 'Incidents',
    isNumber: true,
    cell: ({ incidents }) => incidents.toLocaleString('en-GB'),
    sortValue: ({ incidents }) => incidents,
  },
  { id: 'open', title: 'Open', isNumber: true, cell: ({ open }) => open, sortValue: ({ open }) => open },
  {
    id: 'acknowledged',
    title: 'Acknowledged, median',
    isNumber: true,
    cell: (row) => duration(row.acknowledgeMedianSeconds),
    sortValue: (row) => row.acknowledgeMedianSeconds ?? null,
  },
  {
    id: 'ended',
    title: 'Ended, median',
    isNumber: true,
    cell: (row) => duration(row.endMedianSeconds),
    sortValue: (row) => row.endMedianSeconds ?? null,
  },
]

const offenderColumns = (roomNameOf: RoomNameOf): readonly Column<RepeatOffender>[] => [
  {
    id: 'name',
    title: 'Device or room',
    breaksWords: true,
    cell: ({ endpoint, room }) =>
      endpoint ? (
        <Link to="/devices/$endpointId" params={{ endpointId: endpoint.id }}>
          {endpoint.name}
        </Link>
      ) : (
        room && (
          <Link to="/rooms/$roomId" params={{ roomId: String(room.id) }}>
            {roomNameOf(room.id, room.name)}
          </Link>
        )
      ),
  },
  { id: 'rule', title: 'Cause', breaksWords: true, cell: ({ rule }) => ruleNames[rule] },
  {
    id: 'incidents',
    title: 'Incidents',
    isNumber: true,
    cell: ({ incidents }) => incidents,
    sortValue: ({ incidents }) => incidents,
  },
  { id: 'last', title: 'Latest', cell: ({ lastOpenedAt }) => <DateTime at={lastOpenedAt} /> },
]
