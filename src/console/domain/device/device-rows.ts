// Every device with where it is; which of them an address asks for, and in which order.
import { useSuspenseQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { modelOf } from '../../../contract/models.ts'
import { operationQuery } from '../../api.ts'
import { type Sort, type SortKey, sortRows } from '../../parts/table/sorting.ts'
import { compareText, includesAll, naturalSortKey, normalizeText, searchWords } from '../../parts/text/search-text.ts'
import { callLabel, type ListedDevice } from './device.ts'

export interface DeviceTableRow extends ListedDevice {
  readonly modelName: string
  /** Tells rooms of the same name apart. */
  readonly locationName: string | undefined
  /** Undefined when it is in none, or nobody knows. */
  readonly call: string | undefined
  /** What is searched in, folded. */
  readonly searchText: string
  readonly sortKey: string
}

export function useDeviceRows(): readonly DeviceTableRow[] {
  const [endpointsAsked, roomsAsked] = useSuspenseQueries({
    queries: [operationQuery('endpointsBasicList'), operationQuery('roomsList')],
  })
  const { endpoints } = endpointsAsked.data.body
  const { rooms } = roomsAsked.data.body
  return useMemo(() => {
    const locationOf = new Map(rooms.map(({ id, location }) => [id, location?.name]))
    return endpoints.map((endpoint) =>
      rowOf(endpoint, endpoint.roomId === undefined ? undefined : locationOf.get(endpoint.roomId)),
    )
  }, [endpoints, rooms])
}

/** A device that did not change is the same object in the next answer: only what is new is folded again. */
const rowCache = new WeakMap<ListedDevice, DeviceTableRow>()
function rowOf(endpoint: ListedDevice, locationName: string | undefined): DeviceTableRow {
  const known = rowCache.get(endpoint)
  if (known && known.locationName === locationName) return known
  const modelName = modelOf(endpoint.model).name
  const row: DeviceTableRow = {
    ...endpoint,
    modelName,
    locationName,
    // What an offline device said last is no longer so.
    call: endpoint.connected ? callLabel(endpoint.inCallStatus) : undefined,
    searchText: normalizeText(
      [modelName, endpoint.serial, endpoint.model, endpoint.roomName, locationName, endpoint.firmwareVersion].join(' '),
    ),
    // The model as a whole first: a Bar 2 comes after every Bar.
    sortKey: `${naturalSortKey(modelName)}\0${naturalSortKey(endpoint.serial)}`,
  }
  rowCache.set(endpoint, row)
  return row
}

/** As it stands in the address. */
export interface DeviceFilter {
  readonly q?: string
  readonly model?: string
  readonly firmware?: string
  readonly connected?: string
}

/** In the place of a version: devices that have not told theirs. */
export const unknownFirmware = 'none'
export const firmwareOf = ({ firmwareVersion }: DeviceTableRow): string => firmwareVersion ?? unknownFirmware

export const connectedChoices = { yes: 'Connected', no: 'Offline' } as const
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

/** What is wrong comes first. */
export const defaultDeviceSort: Sort = { by: 'connected', descending: false }

export const sortDevices = (rows: readonly DeviceTableRow[], { by, descending }: Sort): readonly DeviceTableRow[] =>
  sortRows(rows, keys[by] ?? byName, descending, (a, b) => compareText(a.sortKey, b.sortKey) || compareText(a.id, b.id))
