// Tells which IP addresses the public internet routes, so that requests to others can be refused.
import { BlockList, isIP } from 'node:net'
import { embeddedIpv4 } from './ipv6.ts'

/** From the special-purpose registry of IANA for IPv4, and multicast. The comments are its names. */
const notGlobalIpv4 = listOf('ipv4', [
  '0.0.0.0/8', // this network; Linux connects 0.0.0.0 to this machine
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, with the metadata service of clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
])

/** Parts of 2000::/3, which contains all global addresses of IPv6, that are not global themselves. */
const notGlobalIpv6 = listOf('ipv6', [
  '2001::/23', // protocol assignments: Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation
  '3fff::/20', // documentation
])
const globalIpv6 = listOf('ipv6', ['2000::/3'])

/** Returns false for everything that is not an address, and for addresses with a zone, which belong to one network interface. */
export function isGloballyReachable(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !notGlobalIpv4.check(address, 'ipv4')
  if (family !== 6 || address.includes('%')) return false
  // The obsolete form `::a.b.c.d` and the local form of NAT64, 64:ff9b:1::/48, are outside 2000::/3 and therefore never global.
  const embedded = embeddedIpv4(address)
  if (embedded !== undefined) return isGloballyReachable(embedded)
  return globalIpv6.check(address, 'ipv6') && !notGlobalIpv6.check(address, 'ipv6')
}

function listOf(family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    list.addSubnet(network, Number(bits), family)
  }
  return list
}
