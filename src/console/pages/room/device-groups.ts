// Sorts the devices of a room into pair groups: a leader and the devices paired with it. [contract 5.1.pairing]
import type { DeviceDetails } from '../../domain/device/device.ts'
import { leaderSerialOf } from '../../domain/device/pair-group.ts'

export interface DeviceGroup {
  readonly leaderSerial: string
  /** The leader is undefined when it is not in the room. */
  readonly leader: DeviceDetails | undefined
  readonly followers: readonly DeviceDetails[]
}

/** The largest group comes first, because it is the main equipment of the room. */
export function deviceGroups(devices: readonly DeviceDetails[]): DeviceGroup[] {
  return [...Map.groupBy(devices, leaderSerialOf)]
    .map(([leaderSerial, members]) => ({
      leaderSerial,
      leader: members.find(({ serial }) => serial === leaderSerial),
      followers: members
        .filter(({ serial }) => serial !== leaderSerial)
        .sort((a, b) => a.serial.localeCompare(b.serial)),
    }))
    .sort((a, b) => b.followers.length - a.followers.length || a.leaderSerial.localeCompare(b.leaderSerial))
}
