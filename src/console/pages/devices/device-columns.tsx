// Defines the columns of the table of devices.
import { Link } from '@tanstack/react-router'
import { ConnectionLabel, deviceStateName } from '../../domain/fleet/device/connection-label.tsx'
import {
  type DeviceTableRow,
  deviceSortKeys,
  firmwareStateOf,
  firmwareStates,
  seenMsOf,
  settingsStateOf,
  settingsStates,
  sinceMsOf,
} from '../../domain/fleet/device/device-rows.ts'
import { SettingsStateLabel } from '../../domain/fleet/device/settings-state-label.tsx'
import type { Column } from '../../parts/table/column.ts'
import { ageText, shortTime } from '../../parts/text/time.tsx'
import classes from './devices.module.css'

const Dimmed = ({ children }: { readonly children: string }) => <span className={classes.dimmed}>{children}</span>

const textColumn = (
  column: Omit<Column<DeviceTableRow>, 'id' | 'cell' | 'text' | 'sortValue'> & {
    readonly id: keyof typeof deviceSortKeys
  },
  textOf: (row: DeviceTableRow) => string | undefined,
  missing = '–',
): Column<DeviceTableRow> => ({
  ...column,
  sortValue: deviceSortKeys[column.id],
  text: (row) => textOf(row) ?? '',
  cell: (row) => {
    const text = textOf(row)
    return text ? <span title={text}>{text}</span> : <Dimmed>{missing}</Dimmed>
  },
})

const seenText = (row: DeviceTableRow) => {
  if (row.connected) return 'Now'
  const at = seenMsOf(row)
  return at === undefined ? 'Never' : shortTime(at)
}
const sinceText = (row: DeviceTableRow) => {
  const at = sinceMsOf(row)
  return at === undefined ? undefined : ageText(at)
}
const stateText = ({ state, restartingSinceMs }: DeviceTableRow) =>
  restartingSinceMs === undefined ? deviceStateName(state) : 'Restarting'

export const deviceColumns: readonly Column<DeviceTableRow>[] = [
  {
    id: 'name',
    title: 'Device',
    width: 'minmax(165px, 1.4fr)',
    sortValue: deviceSortKeys.name,
    text: ({ modelName, serial }) => `${modelName} ${serial}`,
    cell: ({ id, modelName, serial }) => (
      <Link
        to="/devices/$endpointId"
        params={{ endpointId: id }}
        className={classes.device}
        title={`${modelName} ${serial}`}
        data-row-link
      >
        <span>{modelName}</span> <span className={classes.serial}>{serial}</span>
      </Link>
    ),
  },
  {
    id: 'connected',
    title: 'State',
    width: '128px',
    inCard: 'corner',
    sortValue: deviceSortKeys.connected,
    text: stateText,
    cell: ({ state, restartingSinceMs }) => <ConnectionLabel state={state} restartingSinceMs={restartingSinceMs} />,
  },
  {
    id: 'since',
    title: 'Since',
    width: '68px',
    sortValue: deviceSortKeys.since,
    from: 'medium',
    text: ({ since }) => since ?? '',
    cell: (row) => sinceText(row) ?? <Dimmed>–</Dimmed>,
  },
  {
    id: 'room',
    title: 'Room',
    width: 'minmax(110px, 1.4fr)',
    sortValue: deviceSortKeys.room,
    text: ({ roomName }) => roomName ?? '',
    cell: ({ roomId, roomName }) =>
      roomId === undefined ? (
        <Dimmed>Unassigned</Dimmed>
      ) : (
        <Link to="/rooms/$roomId" params={{ roomId: String(roomId) }} className={classes.room} title={roomName}>
          {roomName}
        </Link>
      ),
  },
  textColumn({ id: 'location', title: 'Location', width: 'minmax(84px, 1fr)' }, ({ location }) => location?.name),
  textColumn(
    { id: 'region', title: 'Region', width: 'minmax(84px, 1fr)', from: 'wide' },
    (row) => row.location?.region?.name,
  ),
  textColumn({ id: 'profile', title: 'Profile', width: 'minmax(84px, 1fr)', from: 'medium' }, (row) => row.profileName),
  {
    id: 'settings',
    title: 'Settings',
    width: '98px',
    sortValue: deviceSortKeys.settings,
    text: (row) => settingsStates[settingsStateOf(row)],
    cell: (row) => <SettingsStateLabel state={settingsStateOf(row)} />,
  },
  {
    id: 'update',
    title: 'Update',
    width: '76px',
    sortValue: deviceSortKeys.update,
    from: 'medium',
    text: (row) => firmwareStates[firmwareStateOf(row)],
    cell: (row) => {
      const state = firmwareStateOf(row)
      return state === 'behind' ? firmwareStates[state] : <Dimmed>{firmwareStates[state]}</Dimmed>
    },
  },
  textColumn(
    { id: 'firmware', title: 'Firmware', width: 'minmax(160px, 1fr)', from: 'wide' },
    (row) => row.firmwareVersion,
    'Not reported',
  ),
  {
    id: 'seen',
    title: 'Last seen',
    width: '104px',
    sortValue: deviceSortKeys.seen,
    from: 'wide',
    text: (row) => (row.connected ? 'Now' : (row.connectionTime ?? '')),
    cell: seenText,
  },
  textColumn({ id: 'ip', title: 'IP address', width: '116px', from: 'wide' }, (row) => row.localIpAddress),
  {
    id: 'call',
    title: 'In a call',
    width: '76px',
    sortValue: deviceSortKeys.call,
    from: 'wide',
    text: ({ call, connected }) => call ?? (connected ? 'No' : ''),
    cell: ({ call, connected }) => call ?? <Dimmed>{connected ? 'No' : '–'}</Dimmed>,
  },
]
