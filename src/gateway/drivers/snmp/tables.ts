// Reads the tables that change rarely: network interfaces, and the switched outlets of a PDU.
import { interfaceColumns, outletColumns } from './oids.ts'
import type { SnmpClient } from './snmp-client.ts'
import { snmpNumber, snmpText } from './snmp-values.ts'

export interface SnmpTables {
  readonly networks: readonly object[]
  /** The state of the outlets in words. */
  readonly outlets: string | undefined
}

/** As many as a status report can have. */
const maxNetworks = 32
/** A switch lists virtual interfaces too, which are not reported. */
const maxInterfaceRows = 64
const maxOutlets = 48
const maxTextLength = 255

/** ifType, of the interfaces that people plug in or see. */
const interfaceTypes: Readonly<Record<number, string>> = { 6: 'NETWORK_TYPE_ETHERNET', 71: 'NETWORK_TYPE_WIFI' }
const operUp = 1
const macAddressBytes = 6

export const readTables = async (client: SnmpClient, maker: string | undefined): Promise<SnmpTables> => ({
  networks: await readNetworks(client),
  outlets: await readOutlets(client, maker),
})

async function readNetworks(client: SnmpClient): Promise<object[]> {
  const rows = await client.rows(Object.values(interfaceColumns), maxInterfaceRows)
  return rows
    .toSorted((a, b) => Number(a.index) - Number(b.index))
    .flatMap(({ values: [descr, ifType, mtu, macAddress, operStatus, name] }) => {
      const type = interfaceTypes[snmpNumber(ifType) ?? 0]
      if (!type) return []
      const mtuBytes = snmpNumber(mtu)
      return {
        type,
        display: snmpText(name, maxTextLength) ?? snmpText(descr, maxTextLength) ?? '',
        linkUp: operStatus === operUp,
        ...(mtuBytes !== undefined && { mtu: mtuBytes }),
        ...(Buffer.isBuffer(macAddress) &&
          macAddress.length === macAddressBytes && { macAddress: macAddress.toString('base64') }),
      }
    })
    .slice(0, maxNetworks)
}

async function readOutlets(client: SnmpClient, maker: string | undefined): Promise<string | undefined> {
  for (const { column, on, off } of outletColumns.filter((outlets) => outlets.maker === maker)) {
    const rows = await client.rows([column], maxOutlets)
    const named = (state: number) => rows.filter(({ values }) => values[0] === state).map(({ index }) => index)
    const states = [
      ['on', named(on)],
      ['off', named(off)],
    ] as const
    const words = states.flatMap(([word, outlets]) => (outlets.length > 0 ? `${outlets.join(', ')} ${word}` : []))
    if (words.length > 0) return words.join('; ').slice(0, maxTextLength)
  }
  return undefined
}
