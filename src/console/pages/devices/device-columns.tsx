// Defines the columns of the table of devices.
import { Link } from '@tanstack/react-router'
import { ConnectionLabel, deviceStateName } from '../../domain/fleet/device/connection-label.tsx'
import {
  type DeviceTableRow,
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
  column: Omit<Column<DeviceTableRow>, 'cell' | 'text' | 'canSort'>,
  textOf: (row: DeviceTableRow) => string | undefined,
  missing = '–',
): Column<DeviceTableRow> => ({
  ...column,
  canSort: true,
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
    canSort: true,
    text: ({ label }) => label,
    cell: ({ id, label, serial }) => (
      <Link
        to="/devices/$endpointId"
        params={{ endpointId: id }}
        className={classes.device}
        title={`${label}, serial number ${serial}`}
        data-row-link
      >
        {label}
      </Link>
    ),
  },
  {
    id: 'connected',
    title: 'State',
    width: '128px',
    canSort: true,
    text: stateText,
    cell: ({ state, restartingSinceMs }) => <ConnectionLabel state={state} restartingSinceMs={restartingSinceMs} />,
  },
  {
    id: 'since',
    title: 'Since',
    width: '68px',
    canSort: true,
    from: 'medium',
    text: ({ since }) => since ?? '',
    cell: (row) => sinceText(row) ?? <Dimmed>–</Dimmed>,
  },
  {
    id: 'room',
    title: 'Room',
    width: 'minmax(110px, 1.4fr)',
    canSort: true,
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
  textColumn(
    { id: 'serial', title: 'Serial number', width: 'minmax(96px, 1fr)', from: 'wide' },
    ({ serial }) => serial,
  ),
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
    canSort: true,
    text: (row) => settingsStates[settingsStateOf(row)],
    cell: (row) => <SettingsStateLabel state={settingsStateOf(row)} />,
  },
  {
    id: 'update',
    title: 'Update',
    width: '76px',
    canSort: true,
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
    canSort: true,
    from: 'wide',
    text: (row) => (row.connected ? 'Now' : (row.connectionTime ?? '')),
    cell: seenText,
  },
  textColumn({ id: 'ip', title: 'IP address', width: '116px', from: 'wide' }, (row) => row.localIpAddress),
  {
    id: 'call',
    title: 'In a call',
    width: '76px',
    canSort: true,
    from: 'wide',
    text: ({ call, connected }) => call ?? (connected ? 'No' : ''),
    cell: ({ call, connected }) => call ?? <Dimmed>{connected ? 'No' : '–'}</Dimmed>,
  },
]
