// The devices of a room as the groups that they work in: a leader and what is paired with it. [contract 5.1.pairing]
import type { Device, ListedDevice } from '../../parts/device.ts'
import { groupNamer, pairedLeader } from '../../parts/pair-groups.ts'

export interface DeviceGroup {
  readonly leaderSerial: string
  /** Undefined when the leader is not in the room. */
  readonly leader: Device | undefined
  readonly followers: readonly Device[]
}

/** Whether one of the devices names a leader that is not among them: then it matters what others report. */
export function namesOthers(devices: readonly Device[]): boolean {
  const serials = new Set(devices.map(({ serial }) => serial))
  return devices.some(({ pairingSerial }) => pairingSerial !== undefined && !serials.has(pairingSerial))
}

/** The largest first: it is what the room is used with. `elsewhere` are endpoints of other rooms. */
export function deviceGroups(devices: readonly Device[], elsewhere: readonly ListedDevice[]): DeviceGroup[] {
  const ids = new Set(devices.map(({ id }) => id))
  const all = [...devices, ...elsewhere.filter(({ id }) => !ids.has(id))]
  return [...Map.groupBy(devices, groupNamer(all)).values()]
    .map((members) => {
      const leaderSerial = pairedLeader(members[0] as Device, all)
      return {
        leaderSerial,
        leader: members.find(({ serial }) => serial === leaderSerial),
        followers: members
          .filter(({ serial }) => serial !== leaderSerial)
          .sort((a, b) => a.serial.localeCompare(b.serial)),
      }
    })
    .sort((a, b) => b.followers.length - a.followers.length || a.leaderSerial.localeCompare(b.leaderSerial))
}
