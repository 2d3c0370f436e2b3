// The serial number with which the computer enrols: the one of its maker, or else one made of the machine ID.
import { createHmac, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { realSerial, realText } from '../contract/device/placeholders.ts'
import { readText } from './kernel/files.ts'

const maxSerialCharacters = 64
const madeCharacters = 24

export interface MakersWords {
  readonly manufacturer?: string | null
  readonly serial?: string | null
}

/**
 * A serial number of a maker carries the maker, because serial numbers are unique over all makers. The machine ID itself is not sent
 * (machine-id(5) asks for that): it is hashed with the address of the service, so two services cannot compare their computers.
 */
export async function computerSerial(
  root: string,
  { manufacturer, serial }: MakersWords,
  url: string,
): Promise<string> {
  const real = realSerial(serial)
  if (real !== undefined) return [realText(manufacturer), real].filter(Boolean).join(' ').slice(-maxSerialCharacters)
  const machineId = await readText(join(root, 'etc/machine-id'))
  if (!machineId) return `RK-${randomUUID()}`
  const hash = createHmac('sha256', machineId)
    .update(`roomkeeper computer ${new URL(url).origin}`)
    .digest('hex')
  return `RK-${hash.slice(0, madeCharacters)}`
}
