// Incidents by cause, how long people and causes took, and repeat offenders.
import { Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useCallback } from 'react'
import { durationText } from '../../../../contract/duration-text.ts'
import { ruleNames } from '../../../../contract/incidents/rule-names.ts'
import { noFigure } from '../../../../contract/reports/figure-texts.ts'
import type { IncidentReportRow, RepeatOffender } from '../../../../contract/reports/incidents.ts'
import { type RoomNameOf, useRoomNames } from '../../../domain/fleet/room/room-names.ts'
import { addDays } from '../../../domain/reports/report-days.ts'
import { allRowsQuery } from '../../../domain/reports/report-query.ts'
import { EmptyState, Section } from '../../../parts/page/page.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { FiguresList } from '../../../parts/text/figures-list.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import type { InsightView } from '../insight-view.ts'
import { CsvButton } from '../parts/csv-button.tsx'

const duration = (seconds: number | undefined) => (seconds === undefined ? noFigure : durationText(seconds * 1000))

const shareWithin = (count: number, p90Seconds: number | undefined) =>
  count === 0 ? 'none yet' : `half of ${count}; 90 % within ${duration(p90Seconds)}`

export function IncidentsTab({ view }: { readonly view: InsightView }) {
  const { filter, window } = view
  // Incidents count at any hour.
  const { hours: _, ...query } = filter
  const roomNameOf = useRoomNames()
  const behind = useBehind(view)
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
          {
            name: 'Incidents',
            value: behind(counts.incidents, counts.incidents, {}),
            note: behind(`${counts.open} open now`, counts.open, { state: 'unresolved' }),
          },
          {
            name: 'Acknowledged within',
            value: duration(counts.acknowledgeMedianSeconds),
            note: shareWithin(counts.acknowledged, counts.acknowledgeP90Seconds),
          },
          {
            name: 'Ended within',
            value: duration(counts.endMedianSeconds),
            note: shareWithin(counts.ended, counts.endP90Seconds),
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
          columns={causeColumns(behind)}
          keyOf={({ rule }) => rule ?? ''}
          minWidthPx={700}
        />
      </Section>
      <Section title="Repeat offenders">
        <DataTable
          label="Repeat offenders"
          rows={repeatOffenders}
          columns={offenderColumns(roomNameOf, behind)}
          keyOf={({ rule, endpoint, room }) => `${rule} ${endpoint?.id ?? ''} ${room?.id ?? ''}`}
          maxHeightPx={480}
          empty="No device or room had three incidents of one rule."
        />
      </Section>
    </Stack>
  )
}

type Counted = { readonly [N in 'state' | 'rule' | 'cause']?: string }
/** A text or number as a link to the incidents that are counted; none are behind 0. */
type Behind = (text: string | number, count: number, counted: Counted) => ReactNode

function useBehind({ window, filter }: InsightView): Behind {
  return useCallback(
    (text, count, counted) => {
      const shown = text.toLocaleString('en-GB')
      if (count === 0) return shown
      const { regionId, locationId, tag } = filter
      const search = {
        ...{ state: 'all', from: window.from },
        ...(window.to !== undefined && { to: addDays(window.to, -1) }),
        ...(regionId !== undefined && { region: String(regionId) }),
        ...(locationId !== undefined && { location: String(locationId) }),
        ...(tag !== undefined && { tag }),
        ...counted,
      }
      return (
        <Link to="/incidents" search={search}>
          {shown}
        </Link>
      )
    },
    [window, filter],
  )
}

const causeColumns = (behind: Behind): readonly Column<IncidentReportRow>[] => [
  {
    id: 'rule',
    title: 'Cause',
    breaksWords: true,
    cell: ({ rule, incidents }) => rule && behind(ruleNames[rule], incidents, { rule }),
  },
  {
    id: 'incidents',
    title: 'Incidents',
    isNumber: true,
    cell: ({ incidents, rule }) => behind(incidents, incidents, ofRule(rule)),
    sortValue: ({ incidents }) => incidents,
  },
  {
    id: 'open',
    title: 'Open',
    isNumber: true,
    cell: ({ open, rule }) => behind(open, open, { ...ofRule(rule), state: 'unresolved' }),
    sortValue: ({ open }) => open,
  },
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

const ofRule = (rule: string | undefined): Counted => (rule === undefined ? {} : { rule })

const offenderColumns = (roomNameOf: RoomNameOf, behind: Behind): readonly Column<RepeatOffender>[] => [
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
    cell: ({ incidents, rule, endpoint, room }) =>
      behind(incidents, incidents, { rule, cause: endpoint ? `ENDPOINT:${endpoint.id}` : `ROOM:${room?.id}` }),
    sortValue: ({ incidents }) => incidents,
  },
  { id: 'last', title: 'Latest', cell: ({ lastOpenedAt }) => <DateTime at={lastOpenedAt} /> },
]
