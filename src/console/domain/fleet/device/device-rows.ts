// The rows of the device table: every device with its location, and how they are filtered and sorted.
import { useSuspenseQueries } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { modelOf } from '../../../../contract/device/models.ts'
import { type EndpointState, endpointStates } from '../../../../contract/fleet/endpoints.ts'
import { operationQuery } from '../../../api.ts'
import { type Sort, type SortKey, sortKeyOf, sortRows } from '../../../parts/table/sorting.ts'
import {
  compareText,
  includesAll,
  naturalSortKey,
  normalizeText,
  searchWords,
} from '../../../parts/text/search-text.ts'
import { type ListedLocation, unassigned, useSites } from '../site/sites.ts'
import { callLabel, type ListedDevice } from './device.ts'
import { hasProfile, type ProfileNames, useProfileNames } from './profile-names.ts'
import { useRestarts } from './restarts.ts'

export interface DeviceTableRow extends ListedDevice {
  readonly modelName: string
  /** Distinguishes rooms of the same name. */
  readonly location: ListedLocation | undefined
  readonly profileName: string | undefined
  /** Undefined if the device is in no call, or its state is not known. */
  readonly call: string | undefined
  /** The time at which an open restart was asked for: the device is away on purpose, and does not count as offline. */
  readonly restartingSinceMs: number | undefined
  /** The normalized text that the search looks in. */
  readonly searchText: string
  readonly sortKey: string
}

export function useDeviceRows(): readonly DeviceTableRow[] {
  const [endpointsQuery, roomsQuery] = useSuspenseQueries({
    queries: [operationQuery('endpointsBasicList'), operationQuery('roomsList')],
  })
  const { endpoints } = endpointsQuery.data.body
  const { rooms } = roomsQuery.data.body
  const { locationById } = useSites()
  const profileNames = useProfileNames()
  const restarts = useRestarts()
  const rows = useMemo(() => {
    const locationIdOf = new Map(rooms.map(({ id, location }) => [id, location?.id]))
    return endpoints.map((endpoint) => {
      const locationId = endpoint.roomId === undefined ? undefined : locationIdOf.get(endpoint.roomId)
      return rowOf(endpoint, {
        location: locationId === undefined ? undefined : locationById.get(locationId),
        profileName: profileNameOf(endpoint, profileNames),
        restartingSinceMs: restarts.get(endpoint.id),
      })
    })
  }, [endpoints, rooms, locationById, profileNames, restarts])
  // Rooms change more often than devices. The same list is returned while no row differs.
  const [stable, setStable] = useState(rows)
  const isSame = stable.length === rows.length && stable.every((row, index) => row === rows[index])
  if (!isSame) setStable(rows)
  return isSame ? stable : rows
}

/** A device that has not changed is the same object in the next answer, so its row is reused. */
const rowCache = new WeakMap<ListedDevice, DeviceTableRow>()
type DeviceRowContext = Pick<DeviceTableRow, 'location' | 'profileName' | 'restartingSinceMs'>
function rowOf(endpoint: ListedDevice, around: DeviceRowContext): DeviceTableRow {
  const known = rowCache.get(endpoint)
  const { location, profileName, restartingSinceMs } = around
  if (
    known?.location === location &&
    known?.profileName === profileName &&
    known?.restartingSinceMs === restartingSinceMs &&
    known
  )
    return known
  const modelName = modelOf(endpoint.model).name
  const row: DeviceTableRow = {
    ...endpoint,
    modelName,
    ...around,
    // The last reported call state of an offline device is out of date.
    call: endpoint.connected ? callLabel(endpoint.inCallStatus) : undefined,
    searchText: normalizeText(
      [
        ...[modelName, endpoint.serial, endpoint.model, endpoint.roomName, location?.name, endpoint.firmwareVersion],
        endpoint.localIpAddress,
      ].join(' '),
    ),
    // The whole model name is compared first, so that a Bar 2 comes after every Bar.
    sortKey: `${naturalSortKey(modelName)}\0${naturalSortKey(endpoint.serial)}`,
  }
  rowCache.set(endpoint, row)
  return row
}

/** The profile may have been assigned after the names were read. */
const profileNameOf = ({ profileId }: ListedDevice, names: ProfileNames): string | undefined =>
  profileId === undefined ? undefined : (names.get(profileId) ?? `Profile ${profileId}`)

/** A device that is being restarted counts as online. */
const shownState = ({ state, restartingSinceMs }: DeviceTableRow): EndpointState =>
  restartingSinceMs === undefined ? state : 'ONLINE'
export const isOffline = (row: DeviceTableRow): boolean => shownState(row) === 'OFFLINE'
/** The device was connected to a server that ended, and is not back yet. */
export const isReconnecting = (row: DeviceTableRow): boolean => shownState(row) === 'UNKNOWN'

/** The search parameters of the device list. */
export interface DeviceFilter {
  readonly q?: string
  readonly model?: string
  readonly firmware?: string
  readonly connected?: string
  readonly update?: string
  readonly region?: string
  readonly location?: string
  readonly profile?: string
  readonly settings?: string
}

/** The state of a device's settings; `none` if nothing was ever set. */
export const settingsStates = {
  DELIVERED: 'Delivered',
  PENDING: 'Pending',
  FAILED: 'Rejected',
  none: 'Not set',
} as const
export type SettingsState = keyof typeof settingsStates
export const settingsStateOf = ({ configState }: ListedDevice): SettingsState => configState ?? 'none'
export const isSettingsState = (text: string | undefined): text is SettingsState =>
  text !== undefined && Object.hasOwn(settingsStates, text)

/** Filter value for devices that have not reported a firmware version. */
export const unknownFirmware = 'none'
export const firmwareOf = ({ firmwareVersion }: DeviceTableRow): string => firmwareVersion ?? unknownFirmware

/** Whether the firmware of a device is the latest that is known for it. */
export const firmwareStates = { current: 'Current', behind: 'Behind', unknown: 'Unknown' } as const
export type FirmwareState = keyof typeof firmwareStates
export const isFirmwareState = (text: string | undefined): text is FirmwareState =>
  text !== undefined && Object.hasOwn(firmwareStates, text)

export function firmwareStateOf({ firmwareVersion, latestVersion }: ListedDevice): FirmwareState {
  if (!firmwareVersion || !latestVersion) return 'unknown'
  return firmwareVersion === latestVersion ? 'current' : 'behind'
}

export const connectedChoices = { yes: 'Online', no: 'Offline', unknown: 'Reconnecting' } as const
const stateOfChoice = { yes: 'ONLINE', no: 'OFFLINE', unknown: 'UNKNOWN' } as const
export const isConnectedChoice = (text: string | undefined): text is keyof typeof connectedChoices =>
  text !== undefined && Object.hasOwn(connectedChoices, text)

export function deviceMatcher({
  q,
  model,
  firmware,
  connected,
  update,
  region,
  location,
  profile,
  settings,
}: DeviceFilter): (row: DeviceTableRow) => boolean {
  const words = searchWords(q ?? '')
  return (row) =>
    (model === undefined || row.model === model) &&
    (firmware === undefined || firmwareOf(row) === firmware) &&
    (!isFirmwareState(update) || firmwareStateOf(row) === update) &&
    (!isConnectedChoice(connected) || shownState(row) === stateOfChoice[connected]) &&
    (region === undefined || String(row.location?.region?.id ?? unassigned) === region) &&
    (location === undefined || String(row.location?.id ?? unassigned) === location) &&
    hasProfile(row.profileId, profile) &&
    (!isSettingsState(settings) || settingsStateOf(row) === settings) &&
    includesAll(row.searchText, words)
}

/** Since when the device is online or offline; undefined if it has never connected. */
export const sinceMsOf = ({ since }: ListedDevice): number | undefined =>
  since === undefined ? undefined : Date.parse(since)

/** When a device that is not connected was last connected; undefined if it never was. */
export const seenMsOf = ({ connectionTime }: ListedDevice): number | undefined =>
  connectionTime === undefined ? undefined : Date.parse(connectionTime)

/** Problems come first. */
const settingsOrder: readonly SettingsState[] = ['FAILED', 'PENDING', 'DELIVERED', 'none']
const updateOrder: readonly FirmwareState[] = ['behind', 'unknown', 'current']

const byName: SortKey<DeviceTableRow> = (row) => row.sortKey
export const deviceSortKeys = {
  name: byName,
  connected: (row) => endpointStates.indexOf(shownState(row)),
  room: (row) => (row.roomName === undefined ? null : row.roomName.toLowerCase()),
  location: (row) => row.location?.name.toLowerCase() ?? null,
  region: (row) => row.location?.region?.name.toLowerCase() ?? null,
  profile: (row) => row.profileName?.toLowerCase() ?? null,
  settings: (row) => settingsOrder.indexOf(settingsStateOf(row)),
  update: (row) => updateOrder.indexOf(firmwareStateOf(row)),
  since: (row) => sinceMsOf(row) ?? null,
  seen: (row) => (row.connected ? Number.POSITIVE_INFINITY : (seenMsOf(row) ?? null)),
  ip: (row) => (row.localIpAddress === undefined ? null : naturalSortKey(row.localIpAddress)),
  firmware: (row) => row.firmwareVersion ?? null,
  call: (row) => row.call ?? null,
} as const satisfies Readonly<Record<string, SortKey<DeviceTableRow>>>

/** Offline devices come first. */
export const defaultDeviceSort: Sort = { by: 'connected', descending: false }

export const sortDevices = (rows: readonly DeviceTableRow[], { by, descending }: Sort): readonly DeviceTableRow[] =>
  sortRows(
    rows,
    sortKeyOf(deviceSortKeys, by) ?? byName,
    descending,
    (a, b) => compareText(a.sortKey, b.sortKey) || compareText(a.id, b.id),
  )
