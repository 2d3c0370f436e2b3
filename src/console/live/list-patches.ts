// Changes single entries of the cached lists of rooms and devices, so that an event does not read whole lists again.
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

interface ListedPresence {
  readonly connected: boolean
  /** The time of the connect or disconnect. */
  readonly at: string
}

export const withPresence = (
  devices: readonly ListedDeviceEntry[],
  id: string,
  { connected, at }: ListedPresence,
): readonly ListedDeviceEntry[] =>
  replaceWhere(devices, id, (device) =>
    device.connected === connected ? device : { ...device, connected, connectionTime: at },
  )

type ConfigState = NonNullable<ListedDeviceEntry['configState']>
export const withConfigState = (devices: readonly ListedDeviceEntry[], id: string, configState: ConfigState) =>
  replaceWhere(devices, id, (device) => (device.configState === configState ? device : { ...device, configState }))

/** All devices of a room are connected and it is still degraded: then a device has rejected its settings. */
const hasRejectedSettings = ({ state, endpointCount, connectedCount }: ListedRoomEntry) =>
  state === 'DEGRADED' && connectedCount === endpointCount

/** Rooms that were seen with rejected settings. The list does not say so while a device of the room is offline. */
const roomsWithRejectedSettings = new Set<number>()

/** Ids of rooms count from 1 in every organisation. */
export const forgetRejectedSettings = (): void => roomsWithRejectedSettings.clear()

/** The state is as the server computes it, as far as it is known here; the room is read a moment later. [contract 5.4.room] */
export const withConnectedCount = (rooms: readonly ListedRoomEntry[], id: number, difference: 1 | -1) =>
  replaceWhere(rooms, id, (room) => {
    if (hasRejectedSettings(room)) roomsWithRejectedSettings.add(id)
    else if (room.state === 'HEALTHY') roomsWithRejectedSettings.delete(id)
    const connectedCount = Math.min(Math.max(room.connectedCount + difference, 0), room.endpointCount)
    const isWhole = connectedCount === room.endpointCount && !roomsWithRejectedSettings.has(id)
    const state = connectedCount === 0 ? 'OFFLINE' : isWhole ? 'HEALTHY' : 'DEGRADED'
    return { ...room, connectedCount, state } satisfies ListedRoomEntry
  })

/** The number of people is in samples only, so it stays. */
export const withRoom = (rooms: readonly ListedRoomEntry[], read: Room) =>
  replaceWhere(rooms, read.id, (room) => {
    const { name, state, location, endpoints, profileId } = read
    const next: ListedRoomEntry = {
      ...room,
      name,
      state,
      endpointCount: endpoints.length,
      connectedCount: endpoints.filter(({ connected }) => connected).length,
    }
    if (location) next.location = { id: location.id, name: location.name }
    else delete next.location
    if (profileId !== undefined) next.profileId = profileId
    else delete next.profileId
    return JSON.stringify(next) === JSON.stringify(room) ? room : next
  })

const listedFields = [
  'connected',
  'connectionTime',
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
