// The devices of a room as the groups that they work in: a leader and what is paired with it. [contract 5.1.pairing]
import type { DeviceDetails } from '../../domain/device/device.ts'
import { leaderSerialOf } from '../../domain/device/pair-group.ts'

export interface DeviceGroup {
  readonly leaderSerial: string
  /** Undefined when the leader is not in the room. */
  readonly leader: DeviceDetails | undefined
  readonly followers: readonly DeviceDetails[]
}

/** The largest first: it is what the room is used with. */
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
