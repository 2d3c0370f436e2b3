// Describes the network interfaces: what the kernel lists of them, and the addresses that Node knows.
import { isIPv6 } from 'node:net'
import type { NetworkInterfaceInfo } from 'node:os'
import { join } from 'node:path'
import { ipv6Bytes } from '../../network/ipv6.ts'
import { linkTarget, listNames, readText } from './files.ts'

export type AddressesByInterface = NodeJS.Dict<readonly NetworkInterfaceInfo[]>

interface Route {
  readonly name: string
  /** The bytes of the gateway's address, in base64. */
  readonly gateway: { readonly ipv4: string } | { readonly ipv6: string }
}

const maxNetworks = 32
const maxAddresses = 32
const maxNameServers = 4
const gatewayFlag = 2

const base64 = (bytes: Iterable<number>) => Buffer.from([...bytes]).toString('base64')

/** Real hardware, and whatever has the default route, such as a bridge. Interfaces of containers are not listed. */
export async function readNetworks(root: string, addresses: AddressesByInterface) {
  const folder = join(root, 'sys/class/net')
  const routes = [...(await ipv4Routes(root)), ...(await ipv6Routes(root))]
  const dnsServers = [...((await readText(join(root, 'etc/resolv.conf'))) ?? '').matchAll(/^nameserver\s+(\S+)/gm)]
    .map(([, address = '']) => address.slice(0, 64))
    .slice(0, maxNameServers)
  const wireless = (await readText(join(root, 'proc/net/wireless'))) ?? ''
  const names: string[] = []
  for (const name of await listNames(folder)) {
    const isHardware = (await linkTarget(join(folder, name, 'device'))) !== undefined
    if (isHardware || routes.some((route) => route.name === name)) names.push(name)
  }
  const networks = names.slice(0, maxNetworks).map(async (name) => {
    const read = (file: string) => readText(join(folder, name, file))
    const [mtu, mac, state, types] = [
      await read('mtu'),
      await read('address'),
      await read('operstate'),
      await read('uevent'),
    ]
    const own = (addresses[name] ?? []).slice(0, maxAddresses)
    const gateways = routes.filter((route) => route.name === name)
    const [, signal] = new RegExp(`^\\s*${escaped(name)}:\\s+\\S+\\s+\\S+\\s+(-\\d+)`, 'm').exec(wireless) ?? []
    return {
      type: /^DEVTYPE=wlan$/m.test(types ?? '') ? 'NETWORK_TYPE_WIFI' : 'NETWORK_TYPE_ETHERNET',
      display: name,
      // Drivers that do not know their link say "unknown", and have addresses.
      linkUp: state === 'up' || (state === 'unknown' && own.length > 0),
      ...(mtu !== undefined && { mtu: Number(mtu) }),
      ...(/^(?:[\da-f]{2}:){5}[\da-f]{2}$/.test(mac ?? '') && {
        macAddress: base64(Buffer.from((mac ?? '').replaceAll(':', ''), 'hex')),
      }),
      ...(gateways.length > 0 && dnsServers.length > 0 && { dnsServers }),
      ...(signal !== undefined && { signalDbm: Number(signal) }),
      addresses: own.map(({ address, cidr }) => ({
        address: addressField(address),
        ...(cidr !== null && { prefix: Number(cidr.split('/')[1]) }),
      })),
      gateway: gateways.map(({ gateway }) => gateway),
    }
  })
  const [first] = routes
  const localIpAddress = first && addresses[first.name]?.find(({ address }) => !isLinkLocal(address))?.address
  return { networks: await Promise.all(networks), ...(localIpAddress !== undefined && { localIpAddress }) }
}

const escaped = (text: string) => text.replaceAll(/[^\w]/g, '\\$&')
const isLinkLocal = (address: string) => /^fe[89ab]/i.test(address)

const addressField = (address: string) =>
  isIPv6(address) ? { ipv6: base64(ipv6Bytes(address)) } : { ipv4: base64(address.split('.').map(Number)) }

/** The kernel writes the gateway of a route as a number, its lowest byte first. */
async function ipv4Routes(root: string): Promise<Route[]> {
  const lines = ((await readText(join(root, 'proc/net/route'))) ?? '').split('\n').slice(1)
  return lines.flatMap((line): Route[] => {
    const [name = '', destination, gateway = '', flags = '0'] = line.split(/\s+/)
    if (destination !== '00000000' || (Number.parseInt(flags, 16) & gatewayFlag) === 0) return []
    return [{ name, gateway: { ipv4: base64(Buffer.from(gateway, 'hex').reverse()) } }]
  })
}

async function ipv6Routes(root: string): Promise<Route[]> {
  const lines = ((await readText(join(root, 'proc/net/ipv6_route'))) ?? '').split('\n')
  return lines.flatMap((line): Route[] => {
    const fields = line.split(/\s+/)
    const [destination = '', prefix, , , gateway = '', , , , flags = '0', name = ''] = fields
    const isDefault = /^0+$/.test(destination) && prefix === '00' && name !== 'lo'
    if (!isDefault || (Number.parseInt(flags, 16) & gatewayFlag) === 0) return []
    return [{ name, gateway: { ipv6: base64(Buffer.from(gateway, 'hex')) } }]
  })
}
