// Sorts the devices of a room by kind, in pair groups: a leader and the devices paired with it. [contract 5.1.pairing]
import { useQuery } from '@tanstack/react-query'
import { endpointKinds } from '../../../contract/device/models.ts'
import { operationQuery } from '../../api.ts'
import type { DeviceDetails, ListedDevice } from '../../domain/fleet/device/device.ts'
import { kindOf } from '../../domain/fleet/device/device-kind.tsx'
import { groupNamer, pairedLeader } from '../../domain/fleet/device/pairing-rule.ts'

export interface DeviceGroup {
  readonly leaderSerial: string
  /** The leader is undefined when it is not in the room. */
  readonly leader: DeviceDetails | undefined
  readonly followers: readonly DeviceDetails[]
}

/** The leader comes first. */
export const groupDevices = ({ leader, followers }: DeviceGroup): DeviceDetails[] => [
  ...(leader ? [leader] : []),
  ...followers,
]

export function useDeviceGroups(devices: readonly DeviceDetails[]): readonly DeviceGroup[] {
  const { data } = useQuery({ ...operationQuery('endpointsBasicList'), enabled: namesOthers(devices) })
  return deviceGroups(devices, data?.body.endpoints ?? [])
}

/** Whether a device names a leader outside of the room: then the list of all endpoints is needed to find its group. */
function namesOthers(devices: readonly DeviceDetails[]): boolean {
  const serials = new Set(devices.map(({ serial }) => serial))
  return devices.some(({ pairingSerial }) => pairingSerial !== undefined && !serials.has(pairingSerial))
}

/**
 * Codecs come first, because they are the main equipment of the room; of one kind the largest group comes first. A group has the kind of
 * its leader. `elsewhere` are endpoints of other rooms.
 */
function deviceGroups(devices: readonly DeviceDetails[], elsewhere: readonly ListedDevice[]): DeviceGroup[] {
  const ids = new Set(devices.map(({ id }) => id))
  const all = [...devices, ...elsewhere.filter(({ id }) => !ids.has(id))]
  return [...Map.groupBy(devices, groupNamer(all)).values()]
    .map((members) => {
      const leaderSerial = pairedLeader(members[0] as DeviceDetails, all)
      return {
        leaderSerial,
        leader: members.find(({ serial }) => serial === leaderSerial),
        followers: members
          .filter(({ serial }) => serial !== leaderSerial)
          .sort((a, b) => a.serial.localeCompare(b.serial)),
      }
    })
    .sort(
      (a, b) =>
        kindRank(a) - kindRank(b) ||
        b.followers.length - a.followers.length ||
        a.leaderSerial.localeCompare(b.leaderSerial),
    )
}

function kindRank({ leader, followers: [first] }: DeviceGroup): number {
  const device = leader ?? first
  return device === undefined ? endpointKinds.length : endpointKinds.indexOf(kindOf(device))
}
