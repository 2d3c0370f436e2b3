// Applies events to the cached lists of rooms and devices, and reads only the rooms that have changed.
import type { ApiResponse } from '../../client/client.ts'
import { roomStateOf } from '../../contract/fleet/rooms.ts'
import type { Event } from '../../contract/journal/events.ts'
import type { ResponseOf } from '../../contract/operation.ts'
import type { Operations } from '../../contract/operations.ts'
import { operationQuery, queryClient, queryKeyOf } from '../api.ts'
import { client } from '../session.ts'
import { cachedBody, isOnScreen, patchBody } from './cached-lists.ts'
import {
  type EventPresence,
  type ListedDeviceEntry,
  type ListedRoomEntry,
  presenceOf,
  withConfigState,
  withDevice,
  withDeviceState,
  withEventPresence,
  withOperation,
  withPresence,
  withRoom,
} from './list-patches.ts'

/** Every change renders the page, so the changes of this time are applied together. */
const flushMs = 2000
/** With more changed rooms than this, whole lists are cheaper to read. */
const maxRoomReads = 12

interface Presence extends EventPresence {
  readonly roomIds: readonly number[]
}
const presences = new Map<string, Presence>()
type ConfigState = NonNullable<Event['config']>['state']
const configStates = new Map<string, ConfigState>()
const changedRooms = new Set<number>()
const changedDevices = new Set<string>()
let timer: ReturnType<typeof setTimeout> | undefined
/** True after the read of a changed room or device has failed. The lists may be out of date, so the next event reads them whole. */
let hasReadFailed = false

type Change<T> = (list: readonly T[]) => readonly T[]
const patchRooms = (change: Change<ListedRoomEntry>) =>
  patchBody('roomsList', (body) => {
    const rooms = change(body.rooms)
    return rooms === body.rooms ? body : { rooms: [...rooms] }
  })
const patchDevices = (change: Change<ListedDeviceEntry>) =>
  patchBody('endpointsBasicList', (body) => {
    const endpoints = change(body.endpoints)
    return endpoints === body.endpoints ? body : { endpoints: [...endpoints] }
  })

export const showsLists = (): boolean => isOnScreen('roomsList') || isOnScreen('endpointsBasicList')

/** `readLists` reads both lists whole; it is called if too much has changed, or a read has failed. */
export function patchLists(event: Event, readLists: () => void): void {
  const { type, roomIds, endpointId, config } = event
  if (endpointId === undefined) return
  const isPresence = type === 'connected' || type === 'disconnected'
  if (isPresence) presences.set(endpointId, { roomIds, ...presenceOf(event) })
  if (config) configStates.set(endpointId, config.state)
  // The event itself says all that a list shows of a connection, if the list has the device.
  const isComplete = isPresence && !hasReadFailed && isListed(endpointId)
  if (!isComplete && roomIds.length === 0) changedDevices.add(endpointId)
  if (!isComplete) for (const room of roomIds) changedRooms.add(room)
  if (timer !== undefined) return
  timer = setTimeout(() => {
    timer = undefined
    for (const [id, presence] of presences) patchListPresence(id, presence)
    presences.clear()
    patchConfigStates()
    void readChanged(readLists)
  }, flushMs)
}

const isListed = (endpointId: string): boolean =>
  cachedBody('endpointsBasicList')?.endpoints.some(({ id }) => id === endpointId) ?? false

/** The count of a room changes only if the device was known to be in the other state: an event may be about a change that was read. */
function patchListPresence(endpointId: string, { roomIds, ...presence }: Presence): void {
  const device = cachedBody('endpointsBasicList')?.endpoints.find(({ id }) => id === endpointId)
  if (!device || device.state === presence.state) return
  patchDevices((devices) => withPresence(devices, endpointId, presence))
  for (const room of roomIds) patchRooms((rooms) => withDeviceState(rooms, room, device.state, presence.state))
}

function patchConfigStates(): void {
  const changed = [...configStates]
  configStates.clear()
  if (changed.length === 0) return
  patchDevices((devices) => changed.reduce((list, [id, state]) => withConfigState(list, id, state), devices))
}

async function readChanged(readLists: () => void): Promise<void> {
  const [rooms, devices] = [[...changedRooms], [...changedDevices]]
  changedRooms.clear()
  changedDevices.clear()
  if (rooms.length + devices.length === 0) return
  if (hasReadFailed || rooms.length + devices.length > maxRoomReads) {
    hasReadFailed = false
    return readLists()
  }
  try {
    await Promise.all([...rooms.map(readRoom), ...devices.map(readDevice)])
  } catch {
    hasReadFailed = true
    readLists()
  }
}

async function readRoom(id: number): Promise<void> {
  const query = operationQuery('roomsGet', { id })
  const isCached = queryClient.getQueryData(query.queryKey) !== undefined
  // A room that no page shows is not cached: it would only make the cache larger.
  const { body } = isCached
    ? await queryClient.fetchQuery({ ...query, staleTime: 0, retry: false })
    : await client().roomsGet({ id })
  patchRooms((rooms) => withRoom(rooms, body))
  patchDevices((devices) => body.endpoints.reduce(withDevice, devices))
}

async function readDevice(id: string): Promise<void> {
  const { body } = await queryClient.fetchQuery({
    ...operationQuery('endpointsGet', { id }),
    staleTime: 0,
    retry: false,
  })
  patchDevices((devices) => withDevice(devices, body))
}

/** A restart that has succeeded is shown for this long, and longer while a cached answer still shows the device as offline. */
const restartGraceMs = 4000
const [maxExtraGraceMs, graceStepMs] = [20_000, 1000]

export function patchOperations({ operation }: Event): void {
  if (!operation) return
  const patch = () =>
    patchBody('operationsList', (body) => {
      const operations = withOperation(body.operations, operation)
      return operations === body.operations ? body : { operations: [...operations] }
    })
  const patchWhenOnline = (extraMs: number) => {
    if (extraMs <= 0 || !isShownOffline(operation.endpointId)) patch()
    else setTimeout(() => patchWhenOnline(extraMs - graceStepMs), graceStepMs)
  }
  if (operation.type === 'REBOOT' && operation.state === 'SUCCEEDED')
    setTimeout(() => patchWhenOnline(maxExtraGraceMs), restartGraceMs)
  else patch()
}

type Room = ResponseOf<Operations['roomsGet']>

/** Whether a cached answer still shows the device as offline. On a slow network, an answer from before the reconnect can arrive after its event. */
function isShownOffline(endpointId: string): boolean {
  const device = queryClient.getQueryData<ApiResponse<Room['endpoints'][number]>>(
    queryKeyOf('endpointsGet', { id: endpointId }),
  )
  const rooms = queryClient.getQueriesData<ApiResponse<Room>>({ queryKey: ['roomsGet'], type: 'active' })
  const devices = [
    ...(cachedBody('endpointsBasicList')?.endpoints ?? []),
    ...(device ? [device.body] : []),
    ...rooms.flatMap(([, response]) => response?.body.endpoints ?? []),
  ]
  return devices.some(({ id, connected }) => id === endpointId && !connected)
}

/**
 * Shows a change of presence on the page of a room or a device before it is read again: the event about the end of a restart follows
 * immediately, and the device must not look offline in between.
 */
export function patchPresence(event: Event): void {
  const { type, roomIds, endpointId } = event
  if (endpointId === undefined || (type !== 'connected' && type !== 'disconnected')) return
  const presence = presenceOf(event)
  const deviceKey = queryKeyOf('endpointsGet', { id: endpointId })
  queryClient.setQueryData<ApiResponse<Room['endpoints'][number]>>(
    deviceKey,
    (response) => response && { ...response, body: withEventPresence(response.body, presence) },
  )
  for (const id of roomIds) {
    queryClient.setQueryData<ApiResponse<Room>>(
      queryKeyOf('roomsGet', { id }),
      (response) => response && { ...response, body: withDevicePresence(response.body, endpointId, presence) },
    )
  }
}

function withDevicePresence(room: Room, id: string, presence: EventPresence): Room {
  const endpoints = room.endpoints.map((endpoint) =>
    endpoint.id === id ? withEventPresence(endpoint, presence) : endpoint,
  )
  // No device was offline and the room was degraded: a device has rejected its settings.
  const hasFailedConfig = room.state === 'DEGRADED' && room.endpoints.every((one) => one.state !== 'OFFLINE')
  const state = roomStateOf({
    endpointCount: endpoints.length,
    connectedCount: endpoints.filter(({ connected }) => connected).length,
    unknownCount: endpoints.filter((one) => one.state === 'UNKNOWN').length,
    hasFailedConfig,
  })
  return { ...room, endpoints, state }
}
