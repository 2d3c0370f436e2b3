// The locations of a region as a table.
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { shareText } from '../../../contract/reports/figure-texts.ts'
import { Section } from '../../parts/page/page.tsx'
import { type Column, markEmptyColumns } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { useFollowLinks } from './follow-links.ts'
import { windowName, windowText } from './place-texts.ts'
import type { LocationNode } from './site-tree.ts'
import { roomsUrl, StateCounts } from './state-counts.tsx'

export interface LocationOfRegion {
  readonly location: LocationNode
  readonly sortKey: string
  readonly zone: string
  readonly incidentCount: number
  readonly use: number | undefined
  readonly airOutside: number | undefined
  /** The reports have not arrived yet; their columns keep their places. */
  readonly isReading: boolean
}

export function RegionLocations({ rows }: { readonly rows: readonly LocationOfRegion[] }) {
  const columns = useMemo(() => markEmptyColumns(locationColumns, rows), [rows])
  const followLinks = useFollowLinks()
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the handler makes the router follow the links inside
    // biome-ignore lint/a11y/useKeyWithClickEvents: a key on a link is a click
    <div onClick={followLinks}>
      <Section title="Locations">
        <DataTable
          label="Locations"
          rows={rows}
          columns={columns}
          keyOf={({ location }) => location.id}
          minWidthPx={880}
          empty="No locations in this region yet"
        />
      </Section>
    </div>
  )
}

const locationColumns: readonly Column<LocationOfRegion>[] = [
  {
    id: 'name',
    title: 'Location',
    breaksWords: true,
    sortValue: ({ sortKey }) => sortKey,
    text: ({ location }) => location.name,
    cell: ({ location: { id, name } }) => (
      <Link to="/sites/locations/$locationId" params={{ locationId: String(id) }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'rooms',
    title: 'Rooms',
    isNumber: true,
    sortValue: ({ location }) => location.rooms,
    text: ({ location }) => String(location.rooms),
    cell: ({ location }) => location.rooms,
  },
  {
    id: 'states',
    title: 'State of rooms',
    sortValue: ({ location: { counts } }) => -counts.OFFLINE * 1000 - counts.DEGRADED,
    cell: ({ location }) => (
      <StateCounts name={location.name} tally={location} href={roomsUrl('location', location.id)} />
    ),
  },
  {
    id: 'incidents',
    title: 'Incidents',
    isNumber: true,
    sortValue: ({ incidentCount }) => -incidentCount,
    text: ({ incidentCount }) => (incidentCount === 0 ? '' : String(incidentCount)),
    cell: ({ incidentCount, location }) =>
      incidentCount > 0 && (
        <Link to="/incidents" search={{ location: String(location.id) }}>
          {incidentCount}
        </Link>
      ),
  },
  {
    id: 'window',
    title: 'Change window',
    sortValue: ({ location }) => windowText(location) ?? null,
    text: ({ location }) => windowName(location),
    cell: ({ location }) => windowName(location),
  },
  {
    id: 'zone',
    title: 'Time zone',
    sortValue: ({ zone }) => zone,
    text: ({ zone }) => zone,
    cell: ({ zone }) => zone.replaceAll('_', ' '),
  },
  {
    id: 'use',
    title: 'Use, 7 days',
    isNumber: true,
    sortValue: ({ use }) => use ?? null,
    width: '120px',
    text: ({ use }) => (use === undefined ? '' : shareText(use)),
    hasValue: ({ use, isReading }) => isReading || use !== undefined,
    cell: ({ use, isReading }) => (isReading ? '…' : shareText(use)),
  },
  {
    id: 'air',
    title: 'Air outside limits',
    isNumber: true,
    sortValue: ({ airOutside }) => airOutside ?? null,
    width: '150px',
    text: ({ airOutside }) => (airOutside === undefined ? '' : shareText(airOutside)),
    hasValue: ({ airOutside, isReading }) => isReading || airOutside !== undefined,
    cell: ({ airOutside, isReading }) => (isReading ? '…' : shareText(airOutside)),
  },
]
