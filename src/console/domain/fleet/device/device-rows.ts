// The rows of the device table: every device with its location, and how they are filtered and sorted.
import { useSuspenseQueries } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { modelOf } from '../../../../contract/device/models.ts'
import { dayMs, hourMs } from '../../../../contract/durations.ts'
import {
  type EndpointState,
  endpointStates,
  latestOfListed,
  sinceOfListed,
  stateOfListed,
} from '../../../../contract/fleet/endpoints.ts'
import {
  compareText,
  includesAll,
  naturalSortKey,
  normalizeText,
  searchWords,
} from '../../../../contract/search-text.ts'
import { operationQuery } from '../../../api.ts'
import { filterTests } from '../../../parts/table/filter-value.ts'
import type { deviceParams, FilterParams } from '../../../parts/table/list-params.ts'
import { type Sort, type SortKey, sortKeyOf, sortRows } from '../../../parts/table/sorting.ts'
import { fieldMatcher } from '../fields/custom-fields.ts'
import { type ListedLocation, unassigned, useSites } from '../site/sites.ts'
import { callLabel, deviceName, type ListedDevice, powerNames } from './device.ts'
import { kindName, kindOf } from './device-kind.tsx'
import { noProfile, type ProfileNames, useProfileNames } from './profile-names.ts'
import { useRestarts } from './restarts.ts'

export interface DeviceTableRow extends ListedDevice {
  /** The name that the device is shown with. */
  readonly label: string
  readonly state: EndpointState
  readonly modelName: string
  /** Undefined if the model is not known and the device reports none. */
  readonly maker: string | undefined
  /** The id of the gateway through which the device is managed. */
  readonly via?: string
  readonly viaName: string | undefined
  /** Distinguishes rooms of the same name. */
  readonly location: ListedLocation | undefined
  readonly profileName: string | undefined
  /** Undefined if the device is in no call, or its state is not known. */
  readonly call: string | undefined
  /** The time at which an open restart was asked for: the device is away on purpose, and does not count as offline. */
  readonly restartingSinceMs: number | undefined
  /** The normalized text that is searched. */
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
    const viaNames = gatewayNames(endpoints)
    const locationIdOf = new Map(rooms.map(({ id, location }) => [id, location?.id]))
    return endpoints.map((endpoint) => {
      const locationId = endpoint.roomId === undefined ? undefined : locationIdOf.get(endpoint.roomId)
      return deviceRowOf(endpoint, {
        location: locationId === undefined ? undefined : locationById.get(locationId),
        profileName: profileNameOf(endpoint, profileNames),
        restartingSinceMs: restarts.get(endpoint.id),
        viaName: viaNames.get(endpoint.id),
      })
    })
  }, [endpoints, rooms, locationById, profileNames, restarts])
  // Rooms change more often than devices. The same list is returned while no row differs.
  const [stable, setStable] = useState(rows)
  const isSame = stable.length === rows.length && stable.every((row, index) => row === rows[index])
  if (!isSame) setStable(rows)
  return isSame ? stable : rows
}

/** The names of the gateways of devices that have one, by the id of the device. */
function gatewayNames(endpoints: readonly (ListedDevice & { readonly via?: string })[]): ReadonlyMap<string, string> {
  const managed = endpoints.filter(({ via }) => via !== undefined)
  if (managed.length === 0) return new Map()
  const labels = new Map(endpoints.map((endpoint) => [endpoint.id, deviceName(endpoint)]))
  return new Map(managed.map(({ id, via = '' }) => [id, labels.get(via) ?? via]))
}

/** A device that has not changed is the same object in the next answer, so its row is reused. */
const rowCache = new WeakMap<ListedDevice, DeviceTableRow>()
type DeviceRowContext = Pick<DeviceTableRow, 'location' | 'profileName' | 'restartingSinceMs' | 'viaName'>
export function deviceRowOf(endpoint: ListedDevice, context: DeviceRowContext): DeviceTableRow {
  const known = rowCache.get(endpoint)
  const { location, profileName, restartingSinceMs, viaName } = context
  if (
    known?.location === location &&
    known?.profileName === profileName &&
    known?.restartingSinceMs === restartingSinceMs &&
    known?.viaName === viaName &&
    known
  )
    return known
  const label = deviceName(endpoint)
  const { name: modelName, manufacturer } = modelOf(endpoint.model)
  const maker = manufacturer ?? endpoint.manufacturer
  const row: DeviceTableRow = {
    ...endpoint,
    state: stateOfListed(endpoint),
    label,
    modelName,
    maker,
    ...context,
    // The last reported call state of an offline device is out of date.
    call: endpoint.connected ? callLabel(endpoint.inCallStatus) : undefined,
    searchText: normalizeText(
      [
        ...[label, modelName, endpoint.serial, endpoint.model, endpoint.roomName, location?.name],
        ...[endpoint.firmwareVersion, endpoint.localIpAddress, maker, endpoint.assetTag, endpoint.externalId],
      ].join(' '),
    ),
    // Devices without a name are compared by the whole model name first: a Bar 2 comes after every Bar.
    sortKey: `${naturalSortKey(endpoint.name ? label : modelName)}\0${naturalSortKey(endpoint.serial)}`,
  }
  rowCache.set(endpoint, row)
  return row
}

/** The profile can have been assigned after the names were read. */
const profileNameOf = ({ profileId }: ListedDevice, names: ProfileNames): string | undefined =>
  profileId === undefined ? undefined : (names.get(profileId) ?? `Profile ${profileId}`)

/** A device that is being restarted counts as online. */
const shownState = ({ state, restartingSinceMs }: DeviceTableRow): EndpointState =>
  restartingSinceMs === undefined ? state : 'ONLINE'
export const isOffline = (row: DeviceTableRow): boolean => shownState(row) === 'OFFLINE'
export const isOnline = (row: DeviceTableRow): boolean => shownState(row) === 'ONLINE'
export const isDeviceAsleep = (row: DeviceTableRow): boolean => shownState(row) === 'ASLEEP'
/** The device was connected to a server that ended, and is not back yet. */
export const isReconnecting = (row: DeviceTableRow): boolean => shownState(row) === 'UNKNOWN' && !row.hasGateway
/** The gateway of the device is away. */
export const isUnseen = (row: DeviceTableRow): boolean => shownState(row) === 'UNKNOWN' && row.hasGateway === true

/** The search parameters of the device list. */
export type DeviceFilter = FilterParams<typeof deviceParams>

/** The state of a device's settings; `none` if nothing was ever set. */
export const settingsStates = {
  DELIVERED: 'Delivered',
  PENDING: 'Pending',
  FAILED: 'Rejected',
  none: 'Not set',
} as const
export type SettingsState = keyof typeof settingsStates
export const settingsStateOf = ({ configState }: ListedDevice): SettingsState => configState ?? 'none'
const isSettingsState = (text: string): text is SettingsState => Object.hasOwn(settingsStates, text)

/** Filter value for devices that have not reported something. */
export const notReported = 'none'
export const firmwareOf = ({ firmwareVersion }: DeviceTableRow): string => firmwareVersion ?? notReported
export const makerOf = ({ maker }: DeviceTableRow): string => maker ?? notReported
export const powerOf = ({ power }: DeviceTableRow): string => power ?? notReported

/** How long a device has been in its state. */
export const sinceChoices = {
  hour: 'The last hour',
  day: 'The last 24 hours',
  week: 'The last 7 days',
  older: 'More than 7 days ago',
  never: 'Never connected',
} as const
const isSinceChoice = (text: string): text is keyof typeof sinceChoices => Object.hasOwn(sinceChoices, text)
const limitsMs = { hour: hourMs, day: dayMs, week: 7 * dayMs } as const

function isSince(row: DeviceTableRow, choice: keyof typeof sinceChoices, now: number): boolean {
  if (stateOfListed(row) === 'UNKNOWN') return false
  const at = sinceMsOf(row)
  if (at === undefined || choice === 'never') return at === undefined && choice === 'never'
  return choice === 'older' ? now - at > limitsMs.week : now - at <= limitsMs[choice]
}

/** Whether the firmware of a device is the latest that is known for it. */
export const firmwareStates = { current: 'Current', behind: 'Behind', unknown: 'Unknown' } as const
export type FirmwareState = keyof typeof firmwareStates
const isFirmwareState = (text: string): text is FirmwareState => Object.hasOwn(firmwareStates, text)

export function firmwareStateOf(device: ListedDevice): FirmwareState {
  const latest = latestOfListed(device)
  if (!device.firmwareVersion || !latest) return 'unknown'
  return device.firmwareVersion === latest ? 'current' : 'behind'
}

export const connectedChoices = {
  yes: 'Online',
  asleep: 'Asleep',
  no: 'Offline',
  unknown: 'Cannot be seen or reconnecting',
} as const
const stateOfChoice = { yes: 'ONLINE', asleep: 'ASLEEP', no: 'OFFLINE', unknown: 'UNKNOWN' } as const
const isConnectedChoice = (text: string): text is keyof typeof connectedChoices => Object.hasOwn(connectedChoices, text)

export function deviceMatcher(filter: DeviceFilter, now = Date.now()): (row: DeviceTableRow) => boolean {
  const words = searchWords(filter.q ?? '')
  /** The row's value is one of the chosen ones. */
  const is = (text: string | undefined, ofRow: (row: DeviceTableRow) => string | undefined) =>
    filterTests<DeviceTableRow>(text, (row, value) => ofRow(row) === value)
  const tests = [
    ...is(filter.kind, kindOf),
    ...is(filter.maker, makerOf),
    ...is(filter.model, ({ model }) => model),
    ...is(filter.power, powerOf),
    ...filterTests<DeviceTableRow, keyof typeof sinceChoices>(
      filter.since,
      (row, choice) => isSince(row, choice, now),
      isSinceChoice,
    ),
    ...is(filter.via, ({ via }) => via ?? notReported),
    ...is(filter.source, ({ sourceType }) => sourceType ?? notReported),
    ...is(filter.firmware, firmwareOf),
    ...filterTests<DeviceTableRow, FirmwareState>(
      filter.update,
      (row, state) => firmwareStateOf(row) === state,
      isFirmwareState,
    ),
    ...filterTests<DeviceTableRow, keyof typeof connectedChoices>(
      filter.connected,
      (row, choice) => shownState(row) === stateOfChoice[choice],
      isConnectedChoice,
    ),
    ...is(filter.region, ({ location }) => String(location?.region?.id ?? unassigned)),
    ...is(filter.location, ({ location }) => String(location?.id ?? unassigned)),
    ...is(filter.profile, ({ profileId }) => String(profileId ?? noProfile)),
    ...filterTests<DeviceTableRow, SettingsState>(
      filter.settings,
      (row, state) => settingsStateOf(row) === state,
      isSettingsState,
    ),
    ...(filter.field === undefined ? [] : [fieldMatcher(filter.field)]),
    ...(words.length === 0 ? [] : [({ searchText }: DeviceTableRow) => includesAll(searchText, words)]),
  ]
  return (row) => tests.every((test) => test(row))
}

/** Since when the device is in its state; undefined if it has never connected, or is UNKNOWN. */
export const sinceMsOf = (device: ListedDevice): number | undefined => {
  const since = shownSinceOf(device)
  return since === undefined ? undefined : Date.parse(since)
}
/** While the state of a device is not known, the service keeps the time since when it was online. [contract 8.state] */
export const shownSinceOf = (device: ListedDevice): string | undefined =>
  stateOfListed(device) === 'UNKNOWN' ? undefined : sinceOfListed(device)

/** When a device that is not connected was last connected; undefined if it never was. */
export const seenMsOf = ({ connectionTime }: ListedDevice): number | undefined =>
  connectionTime === undefined ? undefined : Date.parse(connectionTime)

/** Problems come first. */
const settingsOrder: readonly SettingsState[] = ['FAILED', 'PENDING', 'DELIVERED', 'none']
const powerOrder = Object.keys(powerNames)
const updateOrder: readonly FirmwareState[] = ['behind', 'unknown', 'current']

const byName: SortKey<DeviceTableRow> = (row) => row.sortKey
export const deviceSortKeys = {
  name: byName,
  kind: (row) => kindName(kindOf(row)),
  maker: (row) => row.maker?.toLowerCase() ?? null,
  model: (row) => naturalSortKey(row.modelName),
  serial: (row) => naturalSortKey(row.serial),
  power: (row) => (row.power === undefined ? null : powerOrder.indexOf(row.power)),
  via: (row) => row.viaName?.toLowerCase() ?? null,
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
  assetTag: (row) => (row.assetTag === undefined ? null : naturalSortKey(row.assetTag)),
  installedOn: (row) => row.installedOn ?? null,
  warrantyUntil: (row) => row.warrantyUntil ?? null,
  externalId: (row) => (row.externalId === undefined ? null : naturalSortKey(row.externalId)),
} as const satisfies Readonly<Record<string, SortKey<DeviceTableRow>>>

/** Offline devices come first. */
export const defaultDeviceSort: Sort = { by: 'connected', descending: false }

export const sortDevices = (rows: readonly DeviceTableRow[], { by, descending }: Sort): readonly DeviceTableRow[] =>
  sortRows(
    rows,
    sortKeyOf(deviceSortKeys, by) ?? byName,
    descending,
    (a, b) =>
      (by === 'connected' ? compareOffline(a, b) : 0) || compareText(a.sortKey, b.sortKey) || compareText(a.id, b.id),
  )

/** Offline devices are sorted by how long they have been away, the longest first. */
const compareOffline = (a: DeviceTableRow, b: DeviceTableRow): number =>
  shownState(a) === 'OFFLINE' && shownState(b) === 'OFFLINE' ? (sinceMsOf(a) ?? 0) - (sinceMsOf(b) ?? 0) : 0
