// The serial numbers of devices behind gateways: which of them count, and which the service makes. [contract 13.enrolment]
import { realSerial } from '../../../contract/device/placeholders.ts'
import type { Org } from '../../auth/token-holder.ts'

const maxSerialLength = 64
/** The rest is for one letter of the maker, and a space. */
const maxRealLength = maxSerialLength - 2
/** Devices of this maker enrol by themselves with the bare serial, so theirs stays bare and is found. */
const makerOfBareSerials = 'neat'

interface Reported {
  readonly serial?: string | undefined
  readonly manufacturer?: string | undefined
}

const madePrefix = 'RK-'

/**
 * Serials are unique over all organisations, and makers number their devices without asking each other: a serial carries its maker. A device
 * without a serial gets one that no other item has.
 */
export function serialOf({ serial, manufacturer }: Reported, org: Org, itemId: string): string {
  const real = realSerial(serial)
  if (real === undefined) return `${madePrefix}${org.key}-${itemId}`
  const maker = manufacturer?.trim() || 'Unknown'
  if (maker.toLowerCase() === makerOfBareSerials) return real
  const end = endOf(real)
  return `${maker.slice(0, maxSerialLength - 1 - end.length)} ${end}`
}

/**
 * A device that has no serial, or had none when it enrolled, cannot be told from another one. The maker is not compared: devices spell it
 * in several ways.
 */
export function isSameDevice(enrolledSerial: string, reported: Reported): boolean {
  const real = realSerial(reported.serial)
  if (real === undefined || enrolledSerial.startsWith(madePrefix)) return true
  return enrolledSerial === real || enrolledSerial.endsWith(` ${endOf(real)}`)
}

/** The last characters of a serial differ from device to device; the first ones are often the product. */
const endOf = (real: string): string => real.slice(-maxRealLength)
