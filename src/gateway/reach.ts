// Which addresses the gateway may reach: its own options decide, and the server cannot widen them.
import { isIP } from 'node:net'
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { pulseUrls } from '../contract/fleet/sources.ts'
import { addressMatcher } from '../network/address-list.ts'
import { isGloballyReachable } from '../network/global-addresses.ts'
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

/** Sources reach these names without an option. */
const builtInHosts = pulseUrls.map((url) => new URL(url).hostname)

export class Reach {
  /** The ranges as people read them. */
  readonly ranges: readonly string[]
  /** The names of --reach-host, as people read them. */
  readonly hosts: readonly string[]
  readonly #sourceHosts: ReadonlySet<string>
  readonly #isNamed: (address: string) => boolean
  readonly #isNamedLoopback: (address: string) => boolean

  /** The ranges come from `parseRange` or `privateNetworks`, and the hosts from `parseHost`. */
  constructor(ranges: readonly string[], hosts: readonly string[] = []) {
    this.ranges = [...new Set(ranges)]
    this.hosts = [...new Set(hosts)]
    this.#sourceHosts = new Set([...builtInHosts, ...this.hosts])
    this.#isNamed = matcherByFamily(this.ranges)
    // 0.0.0.0/0 contains loopback without naming it.
    this.#isNamedLoopback = matcherByFamily(this.ranges.filter((range) => isLoopback(range.split('/')[0])))
  }

  /** Takes an IP address. Any other text is refused, including addresses with a zone, which are link-local. */
  allows(address: string): boolean {
    const family = isIP(address)
    if (family === 0 || address.includes('%')) return false
    const reached = reachedBy(address)
    if (isLoopback(reached)) return this.#isNamedLoopback(reached)
    return !isClosed(reached) && this.#isNamed(reached)
  }

  /**
   * For sources only: a name of --reach-host leads to public addresses outside of --reach. Otherwise a person who can change the name's
   * records would lead the gateway into its own network.
   */
  allowsNamed(name: string, address: string): boolean {
    if (this.allows(address)) return true
    return this.#sourceHosts.has(withoutRootDot(name)) && isGloballyReachable(address) && !isClosed(reachedBy(address))
  }

  toString(): string {
    return this.ranges.length === 0 ? 'no network' : this.ranges.join(', ')
  }
}

/** The IPv4 address inside an IPv6 address, or the address itself. */
const reachedBy = (address: string): string => (address.includes(':') ? embeddedIpv4(address) : undefined) ?? address

/** In these networks a connection needs no TLS: packets do not leave the site. */
export function isPrivateOrLoopback(address: string): boolean {
  const reached = reachedBy(address)
  return isPrivate(reached) || isLoopback(reached)
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

/** Reads the name of a host, in lower case. Throws a RangeError with a sentence. */
export function parseHost(text: string): string {
  const name = withoutRootDot(text.trim())
  const isName = /^(?=.{1,253}$)[a-z0-9_]([\w-]{0,62})(\.[a-z0-9_]([\w-]{0,62}))*$/.test(name)
  // The URL parser reads some other texts as IPv4 addresses too, such as 0x7f.1.
  const host = isName ? URL.parse(`https://${name}/`)?.hostname : undefined
  if (host !== undefined && isIP(host) === 0) return host
  throw new RangeError(
    `--reach-host must be the name of a host such as broker.example.org, not "${text}". --reach takes addresses.`,
  )
}

/** `broker.example.org.` and `Broker.example.org` are one name. */
const withoutRootDot = (name: string) => name.toLowerCase().replace(/\.$/, '')

/**
 * The private networks of this machine's interfaces: what a gateway reaches without an option. A network that is larger than the private
 * range around it, such as 192.168.1.5/8, is that range: the rest belongs to others.
 */
export function privateNetworks(
  interfaces: NodeJS.Dict<Pick<NetworkInterfaceInfo, 'address' | 'cidr' | 'internal'>[]> = networkInterfaces(),
): string[] {
  return Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .flatMap(({ address, cidr, internal }) => {
      const range = internal ? undefined : privateRanges.find((one) => addressMatcher([one])(address))
      if (!cidr || range === undefined) return []
      return [bitsOf(cidr) < bitsOf(range) ? range : parseRange(cidr)]
    })
}

const bitsOf = (range: string) => Number(range.split('/')[1])

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
