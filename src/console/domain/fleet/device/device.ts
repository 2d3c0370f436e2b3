// The types of a device, and how its name, its state, its time zone and its calls are put into words.
import { actionsOf, type DeviceAction } from '../../../../contract/device/models.ts'
import { hasProfilesOfSource } from '../../../../contract/fleet/drivers.ts'
import { endpointLabel } from '../../../../contract/fleet/endpoint-label.ts'
import { type EndpointState, stateOfListed } from '../../../../contract/fleet/endpoints.ts'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import { isKnownTimeZone } from '../../../parts/text/time.tsx'
import { useSession } from '../../../session.ts'
import { inRoom, type RoomsById } from '../room/room-names.ts'

export type DeviceDetails = ResponseOf<Operations['endpointsGet']>
/** A device as the list of all devices has it, with fewer fields. */
export type ListedDevice = ResponseOf<Operations['endpointsBasicList']>['endpoints'][number]

/** In the console an endpoint is called a device. */
export const deviceName = endpointLabel

/** "Bar in Coral (Boston Seaport)", or "Bar in Coral" before the rooms are read. */
export const deviceInRoom = (device: ListedDevice, rooms: RoomsById | undefined): string => {
  const { roomId, roomName = `Room ${roomId}` } = device
  return roomId === undefined ? deviceName(device) : inRoom(deviceName(device), rooms?.[roomId] ?? { name: roomName })
}

export const powerNames = {
  ON: 'On',
  STANDBY: 'Standby',
  OFF: 'Off',
  CHANGING: 'Changing',
} as const satisfies Readonly<Record<NonNullable<ListedDevice['power']>, string>>

/** Whether the device can do it: what a device cannot do is not offered. [contract 5.1.actions] */
export const hasAction = (
  { model, actions }: Pick<DeviceDetails, 'model' | 'actions'>,
  action: DeviceAction,
): boolean => actionsOf(model, actions).includes(action)

type ProfiledDevice = Pick<DeviceDetails, 'model' | 'actions' | 'sourceType'>

/** Whether it can have a profile of ours. [contract 15.devices] */
export const canHaveProfile = (device: ProfiledDevice): boolean =>
  !hasProfilesOfSource(device.sourceType) && hasAction(device, 'config')

/** Why a device has no profile. */
export const noProfileText = (device: ProfiledDevice): string =>
  hasProfilesOfSource(device.sourceType)
    ? 'None (settings come from Neat Pulse)'
    : hasAction(device, 'config')
      ? 'None (own settings)'
      : 'None (no settings)'

const predicates: Readonly<Record<EndpointState, string>> = {
  ONLINE: 'is online',
  UNKNOWN: 'is reconnecting',
  ASLEEP: 'is asleep',
  OFFLINE: 'is offline',
}

/** "is asleep", for a sentence about the device. */
export function predicateOf(device: Pick<ListedDevice, 'connected' | 'state' | 'hasGateway'>): string {
  const state = stateOfListed(device)
  return state === 'UNKNOWN' && device.hasGateway ? 'cannot be seen' : predicates[state]
}

/** The time zone that the device reports, else the organisation's. */
export function useDeviceTimeZone({ timezone }: Pick<DeviceDetails, 'timezone'>): string {
  const { org } = useSession()
  return timezone && isKnownTimeZone(timezone) ? timezone : org.timezone
}

type CallStatus = DeviceDetails['inCallStatus']
const apps = { ZOOM: 'Zoom', TEAMS: 'Teams', MEET: 'Meet' } as const

/** "in a Zoom call"; undefined if the device is in no call, or its state is not known. */
export function callText(status: CallStatus): string | undefined {
  if (status === undefined || status === 'NONE') return undefined
  return status === 'OTHER' ? 'in a call' : `in a ${apps[status]} call`
}

/** "Zoom", for a column that shows whether a device is in a call. */
export function callLabel(status: CallStatus): string | undefined {
  if (status === undefined || status === 'NONE') return undefined
  return status === 'OTHER' ? 'Yes' : apps[status]
}
