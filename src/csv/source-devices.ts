// Devices of a source as CSV: which of them go into which rooms, are excluded, or are taken back.

import { type SourceDevice, type SourceDeviceState, sourceDeviceStates } from '../contract/fleet/sources.ts'
import { operations } from '../contract/operations.ts'
import { maxNameLength } from '../contract/shape.ts'
import { Columns, type Sheet } from './columns.ts'
import { type Mistake, mistakeText, refuseFormulas } from './mistakes.ts'
import type { Fate } from './row-fates.ts'
import { CellReader, shown } from './values.ts'

const ownColumns = {
  key: ['device_key'],
  state: [],
  region: ['region_name'],
  location: ['location_name'],
  room: ['room_name', 'roomname'],
  room_id: ['roomid'],
  room_external_id: ['roomexternalid'],
  endpoint_name: ['endpointname'],
  result: [],
} as const
type OwnColumn = keyof typeof ownColumns
export type SourceDeviceColumn = OwnColumn | `of the list: ${string}`

/** The file can be an exported list: what only the list knows is not read. */
const ownHeaders = new Set(Object.entries(ownColumns).flatMap(([column, others]) => [column, ...others]))
const listColumns = operations.sourceDevicesList.csvList.columns
  .map(({ name }) => name)
  .filter((name) => !ownHeaders.has(name.toLowerCase()))

export const sourceDeviceSheetColumns = new Columns<SourceDeviceColumn>(
  { ...ownColumns, ...Object.fromEntries(listColumns.map((name) => [`of the list: ${name}`, [name]])) },
  { hasFields: false, required: [['key']] },
)

export interface PlacedRoom {
  readonly id: number
  readonly name: string
  readonly externalId?: string | undefined
  readonly location?: { readonly name: string; readonly region?: { readonly name: string } | undefined } | undefined
}

export interface SourceDeviceDecision {
  readonly key: string
  readonly state?: SourceDeviceState
  readonly roomId?: number
  readonly name?: string | null
}

export interface SourceDeviceFate {
  readonly row: number
  readonly key: string
  readonly fate: Fate
  /** Sentences: what happens, or why the row is wrong. */
  readonly notes: readonly string[]
  /** Absent if there is nothing to do. */
  readonly decision?: SourceDeviceDecision
}

interface SourceDeviceContext {
  readonly devices: readonly SourceDevice[]
  readonly rooms: readonly PlacedRoom[]
}

/** Throws a `CsvError` if the file has a formula. */
export function readSourceDevices(
  { lines }: Sheet<SourceDeviceColumn>,
  { devices, rooms }: SourceDeviceContext,
): SourceDeviceFate[] {
  const deviceOf = new Map(devices.map((device) => [device.key, device]))
  const rowOfKey = new Map<string, number>()
  const mistakes: Mistake[] = []
  const fates = lines.map((line): SourceDeviceFate => {
    const reader = new CellReader(line)
    const key = line.cell('key') ?? ''
    const before = rowOfKey.get(key)
    rowOfKey.set(key, before ?? line.number)
    const device = deviceOf.get(key)
    if (key === '') reader.wrong('key', 'The row has no key. Write the one in the list of devices, or remove the row.')
    else if (before !== undefined) reader.wrong('key', `Row ${before} has the same device. Remove one of the two.`)
    else if (!device) reader.wrong('key', `The source has no device ${shown(key)}. Correct the key, or remove the row.`)
    const decided = device && decisionOf(reader, device, rooms)
    mistakes.push(...reader.mistakes)
    const wrong = reader.mistakes.map(mistakeText)
    if (wrong.length > 0) return { row: line.number, key, fate: 'wrong', notes: wrong }
    if (!decided) return { row: line.number, key, fate: 'unchanged', notes: [] }
    return { row: line.number, key, fate: 'changed', notes: [decided.text], decision: decided.decision }
  })
  refuseFormulas(mistakes)
  return fates
}

interface Decided {
  readonly decision: SourceDeviceDecision
  readonly text: string
}

/** A room puts the device into it. Without one the state says what becomes of the device; an empty cell leaves it as it is. */
function decisionOf(
  reader: CellReader<SourceDeviceColumn>,
  device: SourceDevice,
  rooms: readonly PlacedRoom[],
): Decided | undefined {
  const room = roomOf(reader, rooms)
  const state = stateOf(reader, room)
  const name = reader.text('endpoint_name', maxNameLength)
  const { key } = device
  if (reader.mistakes.length > 0 || state === undefined) return undefined
  if (state !== 'ADOPTED') {
    if (device.state === 'ADOPTED') {
      reader.wrong(
        'state',
        `${shown(key)} is in a room. Remove it in the console, or with "api gateway-devices delete".`,
      )
      return undefined
    }
    if (device.state === state) return undefined
    return { decision: { key, state }, text: state === 'EXCLUDED' ? 'excluded' : 'taken back' }
  }
  const named = name ? { name } : {}
  if (device.state === 'ADOPTED') {
    if (!room || room.id === device.roomId) return undefined
    return { decision: { key, roomId: room.id }, text: `moved from ${device.roomName ?? 'no room'} to ${room.name}` }
  }
  if (!room) {
    reader.wrong('room', 'A device with the state ADOPTED needs a room. Write its name or id.')
    return undefined
  }
  if (device.refusedBecause !== undefined) {
    reader.wrong('key', `The device cannot be put into a room. ${device.refusedBecause}`)
    return undefined
  }
  return { decision: { key, state, roomId: room.id, ...named }, text: `put into ${room.name}` }
}

function stateOf(reader: CellReader<SourceDeviceColumn>, room: PlacedRoom | undefined): SourceDeviceState | undefined {
  const text = (reader.text('state', 20) ?? '').toUpperCase()
  if (text === '') return room && 'ADOPTED'
  const state = sourceDeviceStates.find((known) => known === text)
  if (!state) {
    reader.wrong('state', `${shown(text)} is not a state. The states are ${sourceDeviceStates.join(', ')}.`)
    return undefined
  }
  // An exported list says FOUND beside a room that a person has added.
  return state === 'FOUND' && room ? 'ADOPTED' : state
}

/** By id, by external id, or by name; the location and the region tell rooms with one name apart. */
function roomOf(reader: CellReader<SourceDeviceColumn>, rooms: readonly PlacedRoom[]): PlacedRoom | undefined {
  const id = reader.integer('room_id', 1, 2_147_483_647)
  const externalId = reader.text('room_external_id', 255)
  const [name, location, region] = (['room', 'location', 'region'] as const).map((column) => reader.text(column, 255))
  if (!id && !externalId && !name) return undefined
  const found = rooms.filter(
    (room) =>
      (!id || room.id === id) &&
      (!externalId || room.externalId === externalId) &&
      (!name || room.name === name) &&
      (!location || room.location?.name === location) &&
      (!region || room.location?.region?.name === region),
  )
  const column = id ? 'room_id' : externalId ? 'room_external_id' : 'room'
  const text = shown(String(id || externalId || name))
  if (found.length === 0) reader.wrong(column, `No room is ${text} there. Create it first, or correct the row.`)
  if (found.length > 1)
    reader.wrong(column, `${found.length} rooms are called ${text}. Add the location and the region, or room_id.`)
  return found.length === 1 ? found[0] : undefined
}
