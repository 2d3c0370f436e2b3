// Changes single entries of the cached lists of rooms and devices, so that an event does not read whole lists again.

import { roomStateOf } from '../../contract/fleet/rooms.ts'
import type { Event } from '../../contract/journal/events.ts'
import type { ResponseOf } from '../../contract/operation.ts'
import type { Operations } from '../../contract/operations.ts'

export type ListedRoomEntry = ResponseOf<Operations['roomsList']>['rooms'][number]
export type ListedDeviceEntry = ResponseOf<Operations['endpointsBasicList']>['endpoints'][number]
type Room = ResponseOf<Operations['roomsGet']>
type Command = ResponseOf<Operations['operationsList']>['operations'][number]

/** Returns the same list if nothing differs, so that nothing is rendered. */
function replaceWhere<T extends { readonly id: unknown }>(
  list: readonly T[],
  id: T['id'],
  change: (item: T) => T,
): readonly T[] {
  const at = list.findIndex((item) => item.id === id)
  const item = list[at]
  if (!item) return list
  const next = change(item)
  return next === item ? list : list.with(at, next)
}

/** The presence of a device as an event reports it. */
export interface EventPresence {
  readonly state: ListedDeviceEntry['state']
  /** Absent if it has not changed. */
  readonly since?: string
  /** The time of the connect or disconnect. */
  readonly at: string
}

/** A server of an earlier version does not send the state. */
export const presenceOf = ({ type, at, presence }: Event): EventPresence =>
  presence ? { ...presence, at } : { state: type === 'connected' ? 'ONLINE' : 'OFFLINE', since: at, at }

type DevicePresence = Pick<ListedDeviceEntry, 'connected' | 'connectionTime' | 'state' | 'since'>

export const withEventPresence = <T extends DevicePresence>(device: T, { state, since, at }: EventPresence): T => ({
  ...device,
  connected: state === 'ONLINE',
  connectionTime: at,
  state,
  ...(since && { since }),
})

export const withPresence = (
  devices: readonly ListedDeviceEntry[],
  id: string,
  presence: EventPresence,
): readonly ListedDeviceEntry[] =>
  replaceWhere(devices, id, (device) =>
    device.state === presence.state ? device : withEventPresence(device, presence),
  )

type ConfigState = NonNullable<ListedDeviceEntry['configState']>
export const withConfigState = (devices: readonly ListedDeviceEntry[], id: string, configState: ConfigState) =>
  replaceWhere(devices, id, (device) => (device.configState === configState ? device : { ...device, configState }))

/** No device of a room is offline and it is still degraded: then a device has rejected its settings. */
const hasRejectedSettings = ({ state, endpointCount, connectedCount, unknownCount = 0 }: ListedRoomEntry) =>
  state === 'DEGRADED' && connectedCount + unknownCount === endpointCount

/** Rooms that were seen with rejected settings. The list does not say so while a device of the room is offline. */
const roomsWithRejectedSettings = new Set<number>()

/** Ids of rooms count from 1 in every organisation. */
export const forgetRejectedSettings = (): void => roomsWithRejectedSettings.clear()

type DeviceState = ListedDeviceEntry['state']

/** Whether a device has rejected its settings is known here only from earlier states of the room. [contract 5.4.room] */
export const withDeviceState = (rooms: readonly ListedRoomEntry[], id: number, from: DeviceState, to: DeviceState) =>
  replaceWhere(rooms, id, (room) => {
    if (hasRejectedSettings(room)) roomsWithRejectedSettings.add(id)
    else if (room.state === 'HEALTHY' || room.state === 'UNKNOWN') roomsWithRejectedSettings.delete(id)
    const { unknownCount: unknownBefore = 0, ...others } = room
    const countOf = (state: DeviceState, before: number) =>
      Math.min(Math.max(before + Number(to === state) - Number(from === state), 0), room.endpointCount)
    const connectedCount = countOf('ONLINE', room.connectedCount)
    const unknownCount = countOf('UNKNOWN', unknownBefore)
    const counts = { endpointCount: room.endpointCount, connectedCount, unknownCount }
    const state = roomStateOf({ ...counts, hasFailedConfig: roomsWithRejectedSettings.has(id) })
    return { ...others, connectedCount, ...(unknownCount > 0 && { unknownCount }), state } satisfies ListedRoomEntry
  })

/** The number of people is in samples only, so it stays. */
export const withRoom = (rooms: readonly ListedRoomEntry[], read: Room) =>
  replaceWhere(rooms, read.id, (room) => {
    const { name, state, location, endpoints, profileId } = read
    const { unknownCount: _, ...others } = room
    const unknownCount = endpoints.filter((one) => one.state === 'UNKNOWN').length
    const next: ListedRoomEntry = {
      ...others,
      name,
      state,
      endpointCount: endpoints.length,
      connectedCount: endpoints.filter(({ connected }) => connected).length,
      ...(unknownCount > 0 && { unknownCount }),
    }
    if (location) next.location = { id: location.id, name: location.name }
    else delete next.location
    if (profileId !== undefined) next.profileId = profileId
    else delete next.profileId
    return JSON.stringify(next) === JSON.stringify(room) ? room : next
  })

const listedFields = [
  'name',
  'kind',
  'power',
  'connected',
  'connectionTime',
  'state',
  'since',
  'roomId',
  'roomName',
  'profileId',
  'localIpAddress',
  'macAddresses',
  'inCallStatus',
  'firmwareVersion',
  'latestVersion',
  'pairingSerial',
  'pairedSerials',
] as const satisfies readonly (keyof ListedDeviceEntry)[]

export const withDevice = (devices: readonly ListedDeviceEntry[], read: Room['endpoints'][number]) =>
  replaceWhere(devices, read.id, (listed) => {
    const macAddresses = read.networks.flatMap(({ macAddress }) => macAddress ?? [])
    const device = { ...read, ...(macAddresses.length > 0 && { macAddresses }) } as ListedDeviceEntry
    const isSame = listedFields.every((field) => JSON.stringify(listed[field]) === JSON.stringify(device[field]))
    if (isSame) return listed
    // The state of the config is not in the details of a device; events bring it.
    const { id, serial, model, configState } = listed
    const known = listedFields.flatMap((field) => (device[field] === undefined ? [] : [[field, device[field]]]))
    return { id, serial, model, ...(configState && { configState }), ...Object.fromEntries(known) } as ListedDeviceEntry
  })

const finalStates: ReadonlySet<Command['state']> = new Set(['SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED', 'SKIPPED'])

/** The list has only operations that are not finished. */
export function withOperation(operations: readonly Command[], operation: Command): readonly Command[] {
  const others = operations.filter(({ id }) => id !== operation.id)
  if (!finalStates.has(operation.state)) return [operation, ...others]
  return others.length === operations.length ? operations : others
}
