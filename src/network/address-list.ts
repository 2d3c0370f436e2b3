// Tells whether an IP address is in a list of addresses and CIDR ranges.
import { BlockList, isIP } from 'node:net'

/** The items must be valid: an address, or a range such as 10.0.0.0/8. An IPv4 address that is written as IPv6 matches too. */
export function addressMatcher(items: readonly string[]): (ip: string | undefined) => boolean {
  if (items.length === 0) return () => false
  const list = new BlockList()
  for (const item of items) {
    const [address = '', bits] = item.split('/')
    const family = familyOf(address)
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return (ip) => ip !== undefined && isIP(ip) !== 0 && list.check(ip, familyOf(ip))
}

const familyOf = (ip: string) => (ip.includes(':') ? 'ipv6' : 'ipv4')
