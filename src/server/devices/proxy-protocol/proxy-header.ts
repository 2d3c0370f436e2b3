// Reads the header of the PROXY protocol, version 2, with which a TCP balancer tells the address of its client.
// https://www.haproxy.org/download/2.6/doc/proxy-protocol.txt, section 2.2

export interface ProxyHeader {
  /** How many bytes the header has. */
  readonly bytes: number
  /** Undefined if the balancer speaks for itself, as in a health check, or names no IP address. */
  readonly sourceAddress: string | undefined
}

const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
const fixedBytes = 16
/** Enough for addresses and the extensions that balancers add, such as the name of a TLS client. */
const maxHeaderBytes = 2048

/** 'incomplete' if more bytes are needed; undefined if the bytes do not begin with a valid header. */
export function readProxyHeader(bytes: Buffer): ProxyHeader | 'incomplete' | undefined {
  const begun = Math.min(bytes.length, signature.length)
  if (bytes.compare(signature, 0, begun, 0, begun) !== 0) return undefined
  if (bytes.length < fixedBytes) return 'incomplete'
  const [versionAndCommand, family] = [bytes.readUInt8(12), bytes.readUInt8(13)]
  const headerBytes = fixedBytes + bytes.readUInt16BE(14)
  const isLocal = versionAndCommand === 0x20
  if ((!isLocal && versionAndCommand !== 0x21) || headerBytes > maxHeaderBytes) return undefined
  const addressBytes = addressBytesOf(family)
  if (addressBytes === undefined || (!isLocal && headerBytes < fixedBytes + addressBytes)) return undefined
  if (bytes.length < headerBytes) return 'incomplete'
  return { bytes: headerBytes, sourceAddress: isLocal ? undefined : sourceAddressOf(family, bytes) }
}

/** The length of source and destination with their ports; undefined for families that are no streams. */
function addressBytesOf(family: number): number | undefined {
  switch (family) {
    case 0x00:
      return 0
    case 0x11:
      return 12
    case 0x21:
      return 36
    case 0x31:
      return 216
    default:
      return undefined
  }
}

function sourceAddressOf(family: number, bytes: Buffer): string | undefined {
  if (family === 0x11) return bytes.subarray(fixedBytes, fixedBytes + 4).join('.')
  if (family !== 0x21) return undefined
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(fixedBytes + 2 * i).toString(16))
  // A URL writes IPv6 addresses in their shortest form.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}
