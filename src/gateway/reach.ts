// Which addresses the gateway may reach: its own options decide, and the server cannot widen them.
import { isIP } from 'node:net'
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { addressMatcher } from '../network/address-list.ts'
import { embeddedIpv4, ipv6Groups } from '../network/ipv6.ts'

const loopbackRanges = ['127.0.0.0/8', '::1/128']
/** No option opens these. The comments name what is there. */
const closedRanges = [
  '0.0.0.0/8', // this machine
  '169.254.0.0/16', // link-local, with the metadata service of clouds
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
  '100.100.100.200/32', // metadata of Alibaba Cloud
  '168.63.129.16/32', // the host of a virtual machine in Azure
  '::/128', // this machine
  '::/96', // IPv4-compatible, obsolete; contains ::1, which is judged before
  'fe80::/10', // link-local
  'ff00::/8', // multicast
  'fd00:ec2::254/128', // metadata of AWS
  '64:ff9b:1::/48', // local NAT64: where the IPv4 address stands in it depends on the network
  '2001::/32', // Teredo
]
const privateRanges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']

const isLoopback = addressMatcher(loopbackRanges)
const isClosed = addressMatcher(closedRanges)
const isPrivate = addressMatcher(privateRanges)

export class Reach {
  /** The ranges as people read them. */
  readonly ranges: readonly string[]
  readonly #isNamed: (address: string) => boolean
  readonly #isNamedLoopback: (address: string) => boolean

  /** The ranges come from `parseRange` or `privateNetworks`. */
  constructor(ranges: readonly string[]) {
    this.ranges = [...new Set(ranges)]
    this.#isNamed = matcherByFamily(this.ranges)
    // 0.0.0.0/0 contains loopback without naming it.
    this.#isNamedLoopback = matcherByFamily(this.ranges.filter((range) => isLoopback(range.split('/')[0])))
  }

  /** Takes an IP address. Any other text is refused, including addresses with a zone, which are link-local. */
  allows(address: string): boolean {
    const family = isIP(address)
    if (family === 0 || address.includes('%')) return false
    const reached = (family === 6 ? embeddedIpv4(address) : undefined) ?? address
    if (isLoopback(reached)) return this.#isNamedLoopback(reached)
    return !isClosed(reached) && this.#isNamed(reached)
  }

  toString(): string {
    return this.ranges.length === 0 ? 'no network' : this.ranges.join(', ')
  }
}

/** A range such as ::/0 contains all IPv4 addresses in their IPv6 form. It does not name them. */
function matcherByFamily(ranges: readonly string[]): (address: string) => boolean {
  const ipv4 = addressMatcher(ranges.filter((range) => !range.includes(':')))
  const ipv6 = addressMatcher(ranges.filter((range) => range.includes(':')))
  return (address) => (address.includes(':') ? ipv6 : ipv4)(address)
}

/** Reads an address or a CIDR range, and writes it without host bits. Throws a RangeError with a sentence. */
export function parseRange(text: string): string {
  const [, address = '', bitsText] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? []
  const family = isIP(address)
  const maxBits = family === 4 ? 32 : 128
  const bits = Number(bitsText ?? maxBits)
  if (family === 0 || bits > maxBits || address.includes('%'))
    throw new RangeError(`--reach must be an address or a range such as 10.20.0.0/16, not "${text}".`)
  const range = withoutHostBits(address, bits)
  const isInside = (closed: string) =>
    addressMatcher([closed])(range.split('/')[0]) && bits >= Number(closed.split('/')[1])
  if (closedRanges.some(isInside) && !loopbackRanges.some(isInside))
    throw new RangeError(`--reach cannot open ${text}: link-local, multicast and metadata addresses are never reached.`)
  return range
}

/** The private networks of this machine's interfaces: what a gateway reaches without an option. */
export function privateNetworks(
  interfaces: NodeJS.Dict<Pick<NetworkInterfaceInfo, 'address' | 'cidr' | 'internal'>[]> = networkInterfaces(),
): string[] {
  return Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .flatMap(({ address, cidr, internal }) => (cidr && !internal && isPrivate(address) ? [parseRange(cidr)] : []))
}

function withoutHostBits(address: string, bits: number): string {
  if (address.includes(':')) {
    const groups = ipv6Groups(address).map((group, i) => group & maskOf(bits - 16 * i, 16))
    const text = groups.map((group) => group.toString(16)).join(':')
    return `${new URL(`http://[${text}]/`).hostname.slice(1, -1)}/${bits}`
  }
  const bytes = address.split('.').map((byte, i) => Number(byte) & maskOf(bits - 8 * i, 8))
  return `${bytes.join('.')}/${bits}`
}

/** A mask of `width` bits of which the first `bits` are set. */
const maskOf = (bits: number, width: number): number => {
  const ones = Math.max(0, Math.min(width, bits))
  return ((1 << ones) - 1) << (width - ones)
}
