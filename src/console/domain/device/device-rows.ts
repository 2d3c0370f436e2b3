// Every device with where it is; which of them an address asks for, and in which order.
import { useSuspenseQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { modelOf } from '../../../contract/models.ts'
import { ask } from '../../api.ts'
import { type Sort, type SortKey, sorted } from '../../parts/table/sorting.ts'
import { folded, hasWords, inOrder, orderKey, wordsOf } from '../../parts/text/search-text.ts'
import { callWord, type ListedDevice } from './device.ts'

export interface DeviceRow extends ListedDevice {
  readonly modelName: string
  /** Tells rooms of the same name apart. */
  readonly locationName: string | undefined
  /** Undefined when it is in none, or nobody knows. */
  readonly call: string | undefined
  /** What is searched in, folded. */
  readonly text: string
  readonly order: string
}

export function useDeviceRows(): readonly DeviceRow[] {
  const [endpointsAsked, roomsAsked] = useSuspenseQueries({ queries: [ask('endpointsBasicList'), ask('roomsList')] })
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
const made = new WeakMap<ListedDevice, DeviceRow>()
function rowOf(endpoint: ListedDevice, locationName: string | undefined): DeviceRow {
  const known = made.get(endpoint)
  if (known && known.locationName === locationName) return known
  const modelName = modelOf(endpoint.model).name
  const row = {
    ...endpoint,
    modelName,
    locationName,
    // What an offline device said last is no longer so.
    call: endpoint.connected ? callWord(endpoint.inCallStatus) : undefined,
    text: folded(
      [modelName, endpoint.serial, endpoint.model, endpoint.roomName, locationName, endpoint.firmwareVersion].join(' '),
    ),
    // The model as a whole first: a Bar 2 comes after every Bar.
    order: `${orderKey(modelName)}\0${orderKey(endpoint.serial)}`,
  }
  made.set(endpoint, row)
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
export const untold = 'none'
export const firmwareOf = ({ firmwareVersion }: DeviceRow): string => firmwareVersion ?? untold

export const connectedChoices = { yes: 'Connected', no: 'Offline' } as const
export const isConnectedChoice = (text: string | undefined): text is keyof typeof connectedChoices =>
  text !== undefined && Object.hasOwn(connectedChoices, text)

export function deviceTest({ q, model, firmware, connected }: DeviceFilter): (row: DeviceRow) => boolean {
  const words = wordsOf(q ?? '')
  return (row) =>
    (model === undefined || row.model === model) &&
    (firmware === undefined || firmwareOf(row) === firmware) &&
    (!isConnectedChoice(connected) || row.connected === (connected === 'yes')) &&
    hasWords(row.text, words)
}

const byName: SortKey<DeviceRow> = (row) => row.order
const keys: Readonly<Record<string, SortKey<DeviceRow>>> = {
  name: byName,
  connected: (row) => (row.connected ? 1 : 0),
  room: (row) => (row.roomName === undefined ? null : row.roomName.toLowerCase()),
  location: (row) => row.locationName?.toLowerCase() ?? null,
  firmware: (row) => row.firmwareVersion ?? null,
  call: (row) => row.call ?? null,
}

/** What is wrong comes first. */
export const usualSort: Sort = { by: 'connected', descending: false }

export const sortDevices = (rows: readonly DeviceRow[], { by, descending }: Sort): readonly DeviceRow[] =>
  sorted(rows, keys[by] ?? byName, descending, (a, b) => inOrder(a.order, b.order) || inOrder(a.id, b.id))
