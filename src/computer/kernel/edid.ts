// Reads the maker, the name and the serial number out of the EDID, the 128 bytes with which a display describes itself.
import { realText } from '../../contract/device/placeholders.ts'

export interface DisplayIdentity {
  /** Three letters, such as DEL, and the number of the product. */
  readonly product: string
  readonly name: string | undefined
  readonly serial: string | undefined
}

const header = Buffer.from('00ffffffffffff00', 'hex')
const blockBytes = 128
const descriptorOffsets = [54, 72, 90, 108]
const descriptorBytes = 18
const nameTag = 0xfc
const serialTag = 0xff

/** Undefined if these bytes are not an EDID, or damaged on their way. */
export function readEdid(bytes: Buffer): DisplayIdentity | undefined {
  if (bytes.length < blockBytes || !bytes.subarray(0, 8).equals(header)) return undefined
  if (bytes.subarray(0, blockBytes).reduce((sum, byte) => sum + byte, 0) % 256 !== 0) return undefined
  const letters = bytes.readUInt16BE(8)
  const maker = [10, 5, 0].map((shift) => String.fromCharCode(64 + ((letters >> shift) & 31))).join('')
  const serialNumber = bytes.readUInt32LE(12)
  return {
    product: `${maker}${bytes.readUInt16LE(10).toString(16).padStart(4, '0')}`,
    name: realText(descriptorText(bytes, nameTag)),
    serial: realText(descriptorText(bytes, serialTag)) ?? realText(String(serialNumber)),
  }
}

/** The text of a descriptor ends with a line feed. */
function descriptorText(bytes: Buffer, tag: number): string | undefined {
  const offset = descriptorOffsets.find((at) => bytes.readUIntBE(at, 3) === 0 && bytes[at + 3] === tag)
  if (offset === undefined) return undefined
  const text = bytes.subarray(offset + 5, offset + descriptorBytes).toString('latin1')
  return text.split('\n')[0]
}
