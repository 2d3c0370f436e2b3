// Defines the columns of the table of devices.
import { Link } from '@tanstack/react-router'
import { ConnectionLabel, deviceStateName } from '../../domain/fleet/device/connection-label.tsx'
import { powerNames } from '../../domain/fleet/device/device.ts'
import { KindLabel, kindName, kindOf } from '../../domain/fleet/device/device-kind.tsx'
import {
  type DeviceTableRow,
  deviceSortKeys,
  firmwareStateOf,
  firmwareStates,
  seenMsOf,
  settingsStateOf,
  settingsStates,
  shownSinceOf,
  sinceMsOf,
} from '../../domain/fleet/device/device-rows.ts'
import { SettingsStateLabel } from '../../domain/fleet/device/settings-state-label.tsx'
import { customFieldNames, fieldColumns } from '../../domain/fleet/fields/custom-fields.ts'
import { type Column, idColumn } from '../../parts/table/column.ts'
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
const stateText = ({ state, hasGateway, restartingSinceMs }: DeviceTableRow) =>
  restartingSinceMs === undefined ? deviceStateName(state, hasGateway) : 'Restarting'

/** Which columns fit a window depends on whether devices report their power and have gateways. */
export function deviceColumns(rows: readonly DeviceTableRow[]): readonly Column<DeviceTableRow>[] {
  const hasPower = rows.some(({ power }) => power !== undefined)
  const hasVia = rows.some(({ via }) => via !== undefined)
  return [
    nameColumn,
    idColumn(({ id }) => id),
    {
      id: 'kind',
      title: 'Kind',
      width: '108px',
      sortValue: deviceSortKeys.kind,
      text: (row) => kindName(kindOf(row)),
      cell: (row) => <KindLabel kind={kindOf(row)} />,
    },
    textColumn({ id: 'maker', title: 'Maker', width: 'minmax(70px, 0.8fr)', from: 'wide' }, ({ maker }) => maker),
    textColumn(
      { id: 'model', title: 'Model', width: 'minmax(70px, 0.8fr)', from: hasVia ? 'full' : 'wide' },
      ({ modelName }) => modelName,
    ),
    textColumn(
      { id: 'serial', title: 'Serial number', width: 'minmax(72px, 0.7fr)', from: 'file' },
      ({ serial }) => serial,
    ),
    stateColumn,
    textColumn(
      { id: 'power', title: 'Power', width: '76px', from: 'medium' },
      ({ power }) => power && powerNames[power],
    ),
    textColumn(
      { id: 'firmware', title: 'Firmware', width: 'minmax(150px, 1fr)', from: 'wide' },
      (row) => row.firmwareVersion,
      'Not reported',
    ),
    sinceColumn,
    viaColumn,
    ...placeColumns,
    { ...updateColumn, from: hasPower ? 'full' : 'medium' },
    ...otherColumns,
    ...inventoryColumns,
    ...fieldColumns<DeviceTableRow>(customFieldNames(rows)),
  ]
}

const nameColumn: Column<DeviceTableRow> = {
  id: 'name',
  title: 'Device',
  width: 'minmax(150px, 1.4fr)',
  sortValue: deviceSortKeys.name,
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
}

const viaColumn: Column<DeviceTableRow> = {
  id: 'via',
  title: 'Via',
  width: 'minmax(90px, 1fr)',
  from: 'wide',
  sortValue: deviceSortKeys.via,
  text: ({ viaName }) => viaName ?? '',
  cell: ({ via, viaName }) =>
    via === undefined ? (
      <Dimmed>–</Dimmed>
    ) : (
      <Link to="/devices/$endpointId" params={{ endpointId: via }} className={classes.room} title={viaName}>
        {viaName}
      </Link>
    ),
}

const stateColumn: Column<DeviceTableRow> = {
  id: 'connected',
  title: 'State',
  width: '128px',
  inCard: 'corner',
  sortValue: deviceSortKeys.connected,
  text: stateText,
  cell: ({ state, hasGateway, restartingSinceMs }) => (
    <ConnectionLabel state={state} hasGateway={hasGateway} restartingSinceMs={restartingSinceMs} />
  ),
}

const sinceColumn: Column<DeviceTableRow> = {
  id: 'since',
  title: 'Since',
  width: '68px',
  sortValue: deviceSortKeys.since,
  from: 'medium',
  text: (row) => shownSinceOf(row) ?? '',
  cell: (row) => sinceText(row) ?? <Dimmed>–</Dimmed>,
}

const placeColumns: readonly Column<DeviceTableRow>[] = [
  {
    id: 'room',
    title: 'Room',
    width: 'minmax(124px, 1.4fr)',
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
  {
    ...textColumn(
      { id: 'location', title: 'Location', width: 'minmax(124px, 1.2fr)' },
      ({ location }) => location?.name,
    ),
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
        <Dimmed>–</Dimmed>
      ),
  },
  textColumn(
    { id: 'region', title: 'Region', width: 'minmax(84px, 1fr)', from: 'full' },
    (row) => row.location?.region?.name,
  ),
  textColumn({ id: 'profile', title: 'Profile', width: 'minmax(84px, 1fr)', from: 'full' }, (row) => row.profileName),
  {
    id: 'settings',
    title: 'Settings',
    width: '98px',
    sortValue: deviceSortKeys.settings,
    text: (row) => settingsStates[settingsStateOf(row)],
    cell: (row) => <SettingsStateLabel state={settingsStateOf(row)} />,
  },
]

const updateColumn: Column<DeviceTableRow> = {
  id: 'update',
  title: 'Update',
  width: '76px',
  sortValue: deviceSortKeys.update,
  text: (row) => firmwareStates[firmwareStateOf(row)],
  cell: (row) => {
    const state = firmwareStateOf(row)
    return state === 'behind' ? firmwareStates[state] : <Dimmed>{firmwareStates[state]}</Dimmed>
  },
}

const inventoryColumns: readonly Column<DeviceTableRow>[] = [
  textColumn({ id: 'assetTag', title: 'Asset tag', width: 'minmax(84px, 1fr)', from: 'file' }, (row) => row.assetTag),
  textColumn({ id: 'installedOn', title: 'Installed on', width: '96px', from: 'file' }, (row) => row.installedOn),
  textColumn(
    { id: 'warrantyUntil', title: 'Warranty until', width: '108px', from: 'file' },
    (row) => row.warrantyUntil,
  ),
  textColumn(
    { id: 'externalId', title: 'External ID', width: 'minmax(84px, 1fr)', from: 'file' },
    (row) => row.externalId,
  ),
]

const otherColumns: readonly Column<DeviceTableRow>[] = [
  {
    id: 'seen',
    title: 'Last seen',
    width: '104px',
    sortValue: deviceSortKeys.seen,
    from: 'file',
    text: (row) => (row.connected ? 'Now' : (row.connectionTime ?? '')),
    cell: seenText,
  },
  textColumn({ id: 'ip', title: 'IP address', width: '116px', from: 'file' }, (row) => row.localIpAddress),
  {
    id: 'call',
    title: 'In a call',
    width: '76px',
    sortValue: deviceSortKeys.call,
    from: 'file',
    text: ({ call, connected }) => call ?? (connected ? 'No' : ''),
    cell: ({ call, connected }) => call ?? <Dimmed>{connected ? 'No' : '–'}</Dimmed>,
  },
]
