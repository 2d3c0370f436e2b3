// The pairing rule that the service applies when it reboots or moves a pair group. [contract 5.1.pairing]

export interface Pairable {
  readonly serial: string
  readonly roomId?: number
  /** The serial number of the leader that the device names. */
  readonly pairingSerial?: string
  /** The serial numbers of the devices that a leader lists. */
  readonly pairedSerials?: readonly string[]
}

/** The leader that a device is paired with, enrolled or not; its own serial if it leads or stands alone. */
export function pairedLeader(device: Pairable, others: readonly Pairable[]): string {
  return leaderOf(
    device,
    others.find(({ serial }) => serial === device.pairingSerial),
  )
}

/** Returns a function that gives all devices of a pair group the same name. */
export function groupNamer(all: readonly Pairable[]): (device: Pairable) => string {
  const bySerial = new Map(all.map((device) => [device.serial, device]))
  return (device) => {
    const named = device.pairingSerial === undefined ? undefined : bySerial.get(device.pairingSerial)
    const leader = leaderOf(device, named)
    // Devices whose leader is not enrolled form one group for each room.
    return JSON.stringify(bySerial.has(leader) ? [leader] : [leader, device.roomId])
  }
}

/** `named` is the leader that the device names, if that leader is enrolled. */
function leaderOf({ serial, roomId, pairingSerial }: Pairable, named: Pairable | undefined): string {
  if (pairingSerial === undefined) return serial
  const isInRoom = roomId !== undefined && (!named || named.roomId === roomId)
  return isInRoom || named?.pairedSerials?.includes(serial) ? pairingSerial : serial
}
