// Lists the network interfaces of a device with readable addresses.
import { Box, Stack, Text } from '@mantine/core'
import { oneLine } from '../../../../contract/words.ts'
import type { DeviceDetails } from '../../../domain/fleet/device/device.ts'
import { addressTexts, macText } from '../../../domain/fleet/device/network-address.ts'
import { Section } from '../../../parts/page/page.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { CopyableText, DefinitionList } from '../../../parts/text/definition-list.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'

type Network = DeviceDetails['networks'][number]

const typeNames: Record<string, string> = { NETWORK_TYPE_ETHERNET: 'Ethernet', NETWORK_TYPE_WIFI: 'Wi-Fi' }
const modeNames: Record<string, string> = { NETWORK_MODE_DHCP: 'DHCP', NETWORK_MODE_STATIC: 'Static' }

export function NetworkSection({ device: { networks, localIpAddress } }: { readonly device: DeviceDetails }) {
  const interfaces = networks.map((network, number) => ({ ...network, number }))
  const columns = [...commonColumns, ...optionalColumns.filter(({ isReported }) => networks.some(isReported))]
  if (networks.length === 0 && !localIpAddress) return null
  return (
    <Section title="Network">
      <Stack gap="sm">
        {localIpAddress && (
          <Box maw={480}>
            <DefinitionList
              definitions={[
                ['Local IP address', <CopyableText key="ip" text={localIpAddress} what="local IP address" />],
              ]}
            />
          </Box>
        )}
        {networks.length > 0 && (
          <DataTable
            label="Network interfaces"
            rows={interfaces}
            columns={columns}
            keyOf={({ number }) => number}
            minWidthPx={760}
          />
        )}
      </Stack>
    </Section>
  )
}

/** An interface has no name that is unique. */
type NumberedNetwork = Network & { readonly number: number }

const kindOf = ({ type }: Network) => type && (typeNames[type] ?? oneLine(type))

const commonColumns: readonly Column<NumberedNetwork>[] = [
  {
    id: 'interface',
    title: 'Interface',
    cell: (network) => {
      const { display, networkName } = network
      const kind = kindOf(network)
      return (
        <>
          {kind ?? (oneLine(display) || 'Unknown')}
          <Text span c="dimmed" fz="inherit" fw={400}>
            {kind && display && ` ${oneLine(display)}`}
            {networkName && ` · ${oneLine(networkName)}`}
          </Text>
        </>
      )
    },
  },
  { id: 'link', title: 'Link', inCard: 'corner', cell: ({ linkUp }) => <LinkMark up={linkUp} /> },
  {
    id: 'address',
    title: 'Address',
    cell: ({ addresses }) => (
      <Lines
        texts={addresses.flatMap(({ address, prefix }) =>
          addressTexts(address).map((text) => (prefix === undefined ? text : `${text}/${String(prefix)}`)),
        )}
      />
    ),
  },
  { id: 'gateway', title: 'Gateway', cell: ({ gateway }) => <Lines texts={gateway.flatMap(addressTexts)} /> },
  {
    id: 'mac',
    title: 'MAC address',
    cell: (network) =>
      network.macAddress ? (
        <CopyableText
          text={macText(network.macAddress)}
          what={`MAC address of ${oneLine(network.display) || kindOf(network) || 'this interface'}`}
        />
      ) : (
        '–'
      ),
  },
  { id: 'mode', title: 'Mode', cell: ({ mode }) => (mode ? (modeNames[mode] ?? oneLine(mode)) : '–') },
  { id: 'mtu', title: 'MTU', isNumber: true, cell: ({ mtu }) => mtu ?? '–' },
]

/** Columns that are left out if no interface reports their value. */
const optionalColumns: readonly (Column<NumberedNetwork> & { readonly isReported: (network: Network) => boolean })[] = [
  {
    id: 'dns',
    title: 'Name servers',
    isReported: ({ dnsServers = [] }) => dnsServers.length > 0,
    cell: ({ dnsServers = [] }) => <Lines texts={[...new Set(dnsServers.map(oneLine))]} />,
  },
  {
    id: 'signal',
    title: 'Signal',
    isNumber: true,
    isReported: ({ signalDbm }) => signalDbm !== undefined,
    cell: ({ signalDbm }) => (signalDbm === undefined ? '–' : signalText(signalDbm)),
  },
]

/** "−58 dBm, good": the number is for engineers. */
function signalText(dbm: number): string {
  const word = dbm >= -67 ? 'good' : dbm >= -75 ? 'fair' : 'weak'
  return `${String(dbm).replace('-', '−')} dBm, ${word}`
}

const Lines = ({ texts }: { readonly texts: readonly string[] }) =>
  texts.length === 0
    ? '–'
    : texts.map((text) => (
        <Text key={text} ff="monospace" fz="sm">
          {text}
        </Text>
      ))

function LinkMark({ up }: { readonly up: boolean | undefined }) {
  if (up === undefined) return '–'
  return up ? <StatusLabel tone="calm">Up</StatusLabel> : <StatusLabel tone="quiet">Down</StatusLabel>
}
