// The rows of the device table: every device with its location, and how they are filtered and sorted.
import { useSuspenseQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { modelOf } from '../../../contract/device/models.ts'
import { operationQuery } from '../../api.ts'
import { type Sort, type SortKey, sortRows } from '../../parts/table/sorting.ts'
import { compareText, includesAll, naturalSortKey, normalizeText, searchWords } from '../../parts/text/search-text.ts'
import { callLabel, type ListedDevice } from './device.ts'

export interface DeviceTableRow extends ListedDevice {
  readonly modelName: string
  /** Distinguishes rooms of the same name. */
  readonly locationName: string | undefined
  /** Undefined if the device is in no call, or its state is not known. */
  readonly call: string | undefined
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
  return useMemo(() => {
    const locationOf = new Map(rooms.map(({ id, location }) => [id, location?.name]))
    return endpoints.map((endpoint) =>
      rowOf(endpoint, endpoint.roomId === undefined ? undefined : locationOf.get(endpoint.roomId)),
    )
  }, [endpoints, rooms])
}

/** A device that has not changed is the same object in the next answer, so its row is reused. */
const rowCache = new WeakMap<ListedDevice, DeviceTableRow>()
function rowOf(endpoint: ListedDevice, locationName: string | undefined): DeviceTableRow {
  const known = rowCache.get(endpoint)
  if (known && known.locationName === locationName) return known
  const modelName = modelOf(endpoint.model).name
  const row: DeviceTableRow = {
    ...endpoint,
    modelName,
    locationName,
    // The last reported call state of an offline device is out of date.
    call: endpoint.connected ? callLabel(endpoint.inCallStatus) : undefined,
    searchText: normalizeText(
      [modelName, endpoint.serial, endpoint.model, endpoint.roomName, locationName, endpoint.firmwareVersion].join(' '),
    ),
    // The whole model name is compared first, so that a Bar 2 comes after every Bar.
    sortKey: `${naturalSortKey(modelName)}\0${naturalSortKey(endpoint.serial)}`,
  }
  rowCache.set(endpoint, row)
  return row
}

/** The search parameters of the device list. */
export interface DeviceFilter {
  readonly q?: string
  readonly model?: string
  readonly firmware?: string
  readonly connected?: string
}

/** Filter value for devices that have not reported a firmware version. */
export const unknownFirmware = 'none'
export const firmwareOf = ({ firmwareVersion }: DeviceTableRow): string => firmwareVersion ?? unknownFirmware

export const connectedChoices = { yes: 'Online', no: 'Offline' } as const
export const isConnectedChoice = (text: string | undefined): text is keyof typeof connectedChoices =>
  text !== undefined && Object.hasOwn(connectedChoices, text)

export function deviceMatcher({ q, model, firmware, connected }: DeviceFilter): (row: DeviceTableRow) => boolean {
  const words = searchWords(q ?? '')
  return (row) =>
    (model === undefined || row.model === model) &&
    (firmware === undefined || firmwareOf(row) === firmware) &&
    (!isConnectedChoice(connected) || row.connected === (connected === 'yes')) &&
    includesAll(row.searchText, words)
}

const byName: SortKey<DeviceTableRow> = (row) => row.sortKey
const keys: Readonly<Record<string, SortKey<DeviceTableRow>>> = {
  name: byName,
  connected: (row) => (row.connected ? 1 : 0),
  room: (row) => (row.roomName === undefined ? null : row.roomName.toLowerCase()),
  location: (row) => row.locationName?.toLowerCase() ?? null,
  firmware: (row) => row.firmwareVersion ?? null,
  call: (row) => row.call ?? null,
}

/** Offline devices come first. */
export const defaultDeviceSort: Sort = { by: 'connected', descending: false }

export const sortDevices = (rows: readonly DeviceTableRow[], { by, descending }: Sort): readonly DeviceTableRow[] =>
  sortRows(rows, keys[by] ?? byName, descending, (a, b) => compareText(a.sortKey, b.sortKey) || compareText(a.id, b.id))
