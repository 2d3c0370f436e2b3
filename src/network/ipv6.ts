// Reads IPv6 addresses: their groups, and the IPv4 address that packets to some of them reach in the end.

/** Covers IPv4-mapped addresses, NAT64 (64:ff9b::/96) and 6to4. Undefined for any other address. */
export function embeddedIpv4(address: string): string | undefined {
  const groups = ipv6Groups(address)
  const startsWith = (...start: number[]) => start.every((group, i) => groups[i] === group)
  if (startsWith(0, 0, 0, 0, 0, 0xffff)) return dotted(groups[6], groups[7])
  if (startsWith(0x64, 0xff9b, 0, 0, 0, 0)) return dotted(groups[6], groups[7])
  if (startsWith(0x2002)) return dotted(groups[1], groups[2])
  return undefined
}

/** The eight groups as numbers. The URL parser writes an IPv6 address in hexadecimal, with `::` for the longest row of zeros. */
export function ipv6Groups(address: string): number[] {
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const [head = '', tail] = canonical.split('::')
  const parse = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const [start, end] = [parse(head), parse(tail ?? '')]
  return [...start, ...new Array<number>(8 - start.length - end.length).fill(0), ...end]
}

/** The sixteen bytes. A zone, as in fe80::1%eth0, is left out. */
export const ipv6Bytes = (address: string): Buffer =>
  Buffer.from(ipv6Groups(address.replace(/%.*$/, '')).flatMap((group) => [group >> 8, group & 0xff]))

const dotted = (high = 0, low = 0): string => [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
