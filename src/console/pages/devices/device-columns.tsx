// Defines the columns of the table of devices.
import { Link } from '@tanstack/react-router'
import { ConnectionLabel } from '../../domain/device/connection-label.tsx'
import type { DeviceTableRow } from '../../domain/device/device-rows.ts'
import type { Column } from '../../parts/table/virtual-table.tsx'
import classes from './devices.module.css'

const Dimmed = ({ children }: { readonly children: string }) => <span className={classes.dimmed}>{children}</span>

export const deviceColumns = (isWide: boolean): Column<DeviceTableRow>[] => [
  {
    id: 'name',
    title: 'Device',
    width: 'minmax(210px, 1.4fr)',
    canSort: true,
    cell: ({ id, modelName, serial }) => (
      <Link
        to="/devices/$endpointId"
        params={{ endpointId: id }}
        className={classes.device}
        title={`${modelName} ${serial}`}
      >
        <span>{modelName}</span> <span className={classes.serial}>{serial}</span>
      </Link>
    ),
  },
  {
    id: 'connected',
    title: 'State',
    width: '116px',
    canSort: true,
    cell: ({ connected }) => <ConnectionLabel connected={connected} />,
  },
  {
    id: 'room',
    title: 'Room',
    width: 'minmax(130px, 1.4fr)',
    canSort: true,
    cell: ({ roomId, roomName }) =>
      roomId === undefined ? (
        <Dimmed>Unassigned</Dimmed>
      ) : (
        <Link to="/rooms/$roomId" params={{ roomId: String(roomId) }} className={classes.room} title={roomName}>
          {roomName}
        </Link>
      ),
  },
  {
    id: 'location',
    title: 'Location',
    width: 'minmax(100px, 1fr)',
    canSort: true,
    cell: ({ locationName }) => (locationName ? <span title={locationName}>{locationName}</span> : <Dimmed>–</Dimmed>),
  },
  ...(isWide ? [firmwareColumn] : []),
  {
    id: 'call',
    title: 'In a call',
    width: '84px',
    canSort: true,
    cell: ({ call, connected }) => call ?? <Dimmed>{connected ? 'No' : '–'}</Dimmed>,
  },
]

const firmwareColumn: Column<DeviceTableRow> = {
  id: 'firmware',
  title: 'Firmware',
  width: 'minmax(170px, 1fr)',
  canSort: true,
  cell: ({ firmwareVersion }) =>
    firmwareVersion ? <span title={firmwareVersion}>{firmwareVersion}</span> : <Dimmed>Not reported</Dimmed>,
}
