// Defines the columns of the table of rooms.

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { sensorLabels, sensorNumberText } from '../../../contract/device/sensor-texts.ts'
import { customFieldNames, fieldColumns } from '../../domain/fleet/fields/custom-fields.ts'
import type { Freshness } from '../../domain/fleet/room/freshness.ts'
import { roomSortKeys } from '../../domain/fleet/room/room-filter.ts'
import type { RoomTableRow } from '../../domain/fleet/room/room-rows.ts'
import { RoomStateLabel, roomStateLabel } from '../../domain/fleet/room/room-state.tsx'
import { type AirSensor, airSensors, isMeasured, outlierText } from '../../domain/sensors/air.ts'
import { peopleText } from '../../domain/sensors/readings.ts'
import { WarnIcon } from '../../parts/page/icons.tsx'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import { type Column, idColumn } from '../../parts/table/column.ts'
import { ageText } from '../../parts/text/time.tsx'
import classes from './rooms.module.css'

const dash = (label: string) => (
  <span className={classes.dash} role="img" aria-label={label}>
    –
  </span>
)
const noSite = dash('none')
const noData = dash('no data')

const currentNumber = (value: number | undefined, { isNow }: Freshness) =>
  value === undefined || !isNow ? '' : String(value)

/** `requested` names the sensors whose columns are shown in any window, because the list is filtered or sorted by them. */
export const roomColumns = (
  requested: readonly AirSensor[],
  rows: readonly RoomTableRow[],
): readonly Column<RoomTableRow>[] => [
  {
    id: 'name',
    title: 'Room',
    width: 'minmax(136px, 2fr)',
    sortValue: roomSortKeys.name,
    text: ({ name }) => name,
    cell: ({ id, name }) => (
      <Link to="/rooms/$roomId" params={{ roomId: String(id) }} className={classes.name} title={name} data-row-link>
        {name}
      </Link>
    ),
  },
  idColumn(({ id }) => id),
  {
    id: 'state',
    title: 'State',
    width: '128px',
    inCard: 'corner',
    sortValue: roomSortKeys.state,
    text: ({ state, isReconnecting }) => roomStateLabel(state, isReconnecting),
    cell: ({ state, isReconnecting, restartingSinceMs }) => (
      <RoomStateLabel state={state} isReconnecting={isReconnecting} restartingSinceMs={restartingSinceMs} />
    ),
  },
  {
    id: 'since',
    title: 'Since',
    width: '66px',
    sortValue: roomSortKeys.since,
    from: 'medium',
    text: ({ sinceMs }) => (sinceMs === undefined ? '' : new Date(sinceMs).toISOString()),
    cell: ({ sinceMs }) => (sinceMs === undefined ? dash('unknown') : ageText(sinceMs)),
  },
  {
    id: 'location',
    title: 'Location',
    width: 'minmax(132px, 1.6fr)',
    sortValue: roomSortKeys.location,
    text: ({ location }) => location?.name ?? '',
    cell: ({ location }) =>
      location ? (
        <Link
          to="/sites/locations/$locationId"
          params={{ locationId: String(location.id) }}
          className={classes.place}
          title={location.name}
        >
          {location.name}
        </Link>
      ) : (
        noSite
      ),
  },
  regionColumn,
  profileColumn,
  tagsColumn,
  {
    id: 'devices',
    title: 'Devices',
    width: '72px',
    isNumber: true,
    sortValue: roomSortKeys.devices,
    text: ({ endpointCount, connectedCount }) => `${connectedCount} of ${endpointCount}`,
    cell: ({ endpointCount, connectedCount }) => (endpointCount === 0 ? '0' : `${connectedCount} of ${endpointCount}`),
  },
  {
    id: 'people',
    title: 'People',
    width: '72px',
    isNumber: true,
    sortValue: roomSortKeys.people,
    text: ({ people, peopleIs, freshness }) =>
      people === undefined || !freshness.isNow ? '' : peopleIs ? peopleText(people, peopleIs) : String(people),
    hasValue: ({ people, freshness }) => people !== undefined && freshness.atMs !== undefined,
    cell: ({ people, peopleIs, freshness }) =>
      people === undefined || freshness.atMs === undefined ? (
        noData
      ) : (
        <Aged freshness={freshness}>{peopleText(people, peopleIs)}</Aged>
      ),
  },
  {
    id: 'capacity',
    title: 'Capacity',
    width: '76px',
    isNumber: true,
    from: 'medium',
    sortValue: roomSortKeys.capacity,
    text: ({ capacity }) => (capacity === undefined ? '' : String(capacity)),
    cell: ({ capacity }) => capacity ?? dash('none'),
  },
  ...airSensors.map((sensor) => airColumn(sensor, requested.includes(sensor))),
  ...textColumns,
  ...fieldColumns<RoomTableRow>(customFieldNames(rows)),
]

const textColumn = (id: 'floor' | 'contact' | 'externalId', title: string, width: string): Column<RoomTableRow> => ({
  ...{ id, title, width, from: 'file', sortValue: roomSortKeys[id] },
  text: (row) => row[id] ?? '',
  cell: (row) => (row[id] === undefined ? dash('none') : <span title={row[id]}>{row[id]}</span>),
})
const textColumns = [
  textColumn('floor', 'Floor', '84px'),
  textColumn('contact', 'Contact', 'minmax(84px, 1fr)'),
  textColumn('externalId', 'External ID', 'minmax(84px, 1fr)'),
]

const regionColumn: Column<RoomTableRow> = {
  id: 'region',
  title: 'Region',
  width: 'minmax(112px, 1fr)',
  sortValue: roomSortKeys.region,
  from: 'wide',
  text: ({ region }) => region?.name ?? '',
  cell: ({ region }) =>
    region ? (
      <Link
        to="/sites/regions/$regionId"
        params={{ regionId: String(region.id) }}
        className={classes.place}
        title={region.name}
      >
        {region.name}
      </Link>
    ) : (
      noSite
    ),
}

const profileColumn: Column<RoomTableRow> = {
  id: 'profile',
  title: 'Profile',
  width: 'minmax(84px, 1fr)',
  sortValue: roomSortKeys.profile,
  from: 'medium',
  text: ({ profileName }) => profileName ?? '',
  cell: ({ profileName }) => (profileName ? <span title={profileName}>{profileName}</span> : dash('none')),
}

const tagsColumn: Column<RoomTableRow> = {
  id: 'tags',
  title: 'Tags',
  width: 'minmax(84px, 1fr)',
  sortValue: roomSortKeys.tags,
  from: 'wide',
  text: ({ tags }) => tags?.join(' ') ?? '',
  cell: ({ tags }) => (tags?.length ? <span title={tags.join(', ')}>{tags.join(', ')}</span> : dash('none')),
}

const defaultAirSensors: readonly AirSensor[] = ['co2', 'temp']

const airColumn = (sensor: AirSensor, isRequested: boolean): Column<RoomTableRow> => ({
  ...(!isRequested && { from: defaultAirSensors.includes(sensor) ? 'medium' : 'extra' }),
  text: ({ sample, freshness }) =>
    currentNumber(sample && isMeasured(sample[sensor]) ? sample[sensor] : undefined, freshness),
  id: sensor,
  title: `${sensor === 'temp' ? 'Temp' : sensorLabels[sensor].name}, ${sensorLabels[sensor].unit}`,
  width: '82px',
  isNumber: true,
  sortValue: roomSortKeys[sensor],
  // An old value is shown with its age.
  hasValue: ({ sample }) => sample !== undefined && isMeasured(sample[sensor]),
  cell: (row) => <AirCell row={row} sensor={sensor} />,
})

/** A value that is not of now has its age beside it. */
const Aged = ({ freshness, children }: { readonly freshness: Freshness; readonly children: ReactNode }) => (
  <>
    {children}
    {!freshness.isNow && freshness.atMs !== undefined && (
      <span className={classes.age}> {ageText(freshness.atMs)}</span>
    )}
  </>
)

function AirCell({
  row: { sample, outliers, freshness },
  sensor,
}: {
  readonly row: RoomTableRow
  readonly sensor: AirSensor
}) {
  if (!sample || !isMeasured(sample[sensor])) return noData
  const value = sensorNumberText(sensor, sample[sensor])
  const outlier = outliers.find((one) => one.sensor === sensor)
  if (!outlier) return <Aged freshness={freshness}>{value}</Aged>
  return (
    <span className={classes.outlier} title={outlierText(outlier)}>
      <WarnIcon size={14} />
      <Aged freshness={freshness}>{value}</Aged>
      <VisuallyHidden> outside limits</VisuallyHidden>
    </span>
  )
}
