// Tells whether an address or host is the loopback interface of this machine.
import { BlockList } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')
loopback.addSubnet('::ffff:127.0.0.0', 104, 'ipv6')
export const isLoopback = (ip: string): boolean => loopback.check(ip, ip.includes(':') ? 'ipv6' : 'ipv4')

/** The hosts that the name localhost leads to. Other addresses of the loopback interface are not reached by it. */
export const isLocalhost = (host: string): boolean => host === 'localhost' || host === '127.0.0.1' || host === '::1'

/** Accepts a host name, or an IPv6 address in brackets. */
export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || isLoopback(host.replace(/^\[|\]$/g, ''))
