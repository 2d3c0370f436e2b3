// Defines the columns of the table of rooms.
import { Link } from '@tanstack/react-router'
import {
  type AirSensor,
  airSensors,
  isMeasured,
  outlierText,
  sensorLabels,
  sensorNumberText,
} from '../../domain/air/air.ts'
import type { RoomTableRow } from '../../domain/room/room-rows.ts'
import { RoomStateLabel } from '../../domain/room/room-state.tsx'
import { WarnIcon } from '../../parts/page/icons.tsx'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import type { Column } from '../../parts/table/virtual-table.tsx'
import classes from './rooms.module.css'

const dash = (label: string) => (
  <span className={classes.dash} role="img" aria-label={label}>
    –
  </span>
)
const noSite = dash('none')
const noData = dash('no data')

/** `airColumns` names the sensors that get a column. */
export const roomColumns = (airColumns: readonly AirSensor[], isWide: boolean): Column<RoomTableRow>[] => [
  {
    id: 'name',
    title: 'Room',
    width: 'minmax(160px, 2fr)',
    canSort: true,
    cell: ({ id, name }) => (
      <Link to="/rooms/$roomId" params={{ roomId: String(id) }} className={classes.name} title={name}>
        {name}
      </Link>
    ),
  },
  { id: 'state', title: 'State', width: '108px', canSort: true, cell: ({ state }) => <RoomStateLabel state={state} /> },
  {
    id: 'location',
    title: 'Location',
    width: 'minmax(110px, 1.4fr)',
    canSort: true,
    cell: ({ location }) => (location ? <span title={location.name}>{location.name}</span> : noSite),
  },
  ...(isWide ? [regionColumn] : []),
  {
    id: 'devices',
    title: 'Devices',
    width: '72px',
    isNumber: true,
    canSort: true,
    cell: ({ endpointCount, connectedCount }) => (endpointCount === 0 ? '0' : `${connectedCount} of ${endpointCount}`),
  },
  {
    id: 'people',
    title: 'People',
    width: '64px',
    isNumber: true,
    canSort: true,
    cell: ({ people }) => people?.toLocaleString('en-GB') ?? noData,
  },
  ...airSensors.filter((sensor) => airColumns.includes(sensor)).map(airColumn),
]

const regionColumn: Column<RoomTableRow> = {
  id: 'region',
  title: 'Region',
  width: 'minmax(90px, 1fr)',
  canSort: true,
  cell: ({ region }) => (region ? <span title={region.name}>{region.name}</span> : noSite),
}

const airColumn = (sensor: AirSensor): Column<RoomTableRow> => ({
  id: sensor,
  title: `${sensor === 'temp' ? 'Temp' : sensorLabels[sensor].name}, ${sensorLabels[sensor].unit}`,
  width: '96px',
  isNumber: true,
  canSort: true,
  cell: (row) => <AirCell row={row} sensor={sensor} />,
})

function AirCell({ row: { sample, outliers }, sensor }: { readonly row: RoomTableRow; readonly sensor: AirSensor }) {
  if (!sample || !isMeasured(sample[sensor])) return noData
  const value = sensorNumberText(sensor, sample[sensor])
  const outlier = outliers.find((one) => one.sensor === sensor)
  if (!outlier) return value
  return (
    <span className={classes.outlier} title={outlierText(outlier)}>
      <WarnIcon size={14} />
      {value}
      <VisuallyHidden> outside limits</VisuallyHidden>
    </span>
  )
}
