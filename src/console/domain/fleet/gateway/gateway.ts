// The types of gateways, their devices and drivers, and how they are named.
import { type DeviceAction, deviceActions } from '../../../../contract/device/models.ts'
import { endpointLabel } from '../../../../contract/fleet/endpoint-label.ts'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'

export type Gateway = ResponseOf<Operations['gatewaysList']>['gateways'][number]
/** A device on the list of a gateway, whether it has enrolled or not. */
export type GatewayItem = ResponseOf<Operations['gatewayDevicesGet']>
export type GatewayDriver = ResponseOf<Operations['driversList']>['drivers'][number]
export type TestResult = ResponseOf<Operations['gatewayDevicesTest']>

export const gatewayName = ({ name, serial }: Gateway): string => endpointLabel({ name, serial, model: 'RK-GATEWAY' })

/** Names of gateways repeat, so a choice includes the location, or else the room. */
export const gatewayLabel = (gateway: Gateway): string => {
  const where = gateway.locationName ?? gateway.roomName
  return where === undefined ? gatewayName(gateway) : `${gatewayName(gateway)} (${where})`
}

export const itemCount = ({ devices }: Gateway): number =>
  Object.values(devices).reduce<number>((sum, count) => sum + (count ?? 0), 0)

/** The name of the endpoint if there is one, else the name that it will have, else the address. */
export const itemName = ({ endpointName, name, host }: GatewayItem): string => endpointName ?? name ?? host

/** IPv6 addresses need brackets before a port. */
export const addressText = ({ host, port }: Pick<GatewayItem, 'host' | 'port'>): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

const actionNames: Readonly<Record<DeviceAction, string>> = {
  reboot: 'restart',
  message: 'messages on the screen',
  logs: 'logs',
  config: 'settings',
  power: 'switching on and off',
}

/** The actions that this driver lacks, in words; empty if it has all of them. */
export const missingActions = ({ actions }: GatewayDriver): string =>
  listText(deviceActions.filter((action) => !actions.includes(action)).map((action) => actionNames[action]))

/** "a", "a and b", "a, b and c" */
const listText = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
