// The rule of pairing, as the service applies it when it reboots or moves a group. [contract 5.1.pairing]

export interface Pairable {
  readonly serial: string
  readonly roomId?: number
  /** The leader that it names. */
  readonly pairingSerial?: string
  /** The devices that it lists. */
  readonly pairedSerials?: readonly string[]
}

/** The leader that a device is paired with, enrolled or not; its own serial if it leads or stands alone. */
export function pairedLeader(device: Pairable, others: readonly Pairable[]): string {
  return leaderOf(
    device,
    others.find(({ serial }) => serial === device.pairingSerial),
  )
}

/** Gives each of these devices a name that it shares with those in its group. */
export function groupNamer(all: readonly Pairable[]): (device: Pairable) => string {
  const bySerial = new Map(all.map((device) => [device.serial, device]))
  return (device) => {
    const named = device.pairingSerial === undefined ? undefined : bySerial.get(device.pairingSerial)
    const leader = leaderOf(device, named)
    // Under a leader that is not enrolled there is a group for each room.
    return JSON.stringify(bySerial.has(leader) ? [leader] : [leader, device.roomId])
  }
}

/** `named` is the leader that the device names, if that is enrolled. */
function leaderOf({ serial, roomId, pairingSerial }: Pairable, named: Pairable | undefined): string {
  if (pairingSerial === undefined) return serial
  const isInRoom = roomId !== undefined && (!named || named.roomId === roomId)
  return isInRoom || named?.pairedSerials?.includes(serial) ? pairingSerial : serial
}
