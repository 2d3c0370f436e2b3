// Lists the network interfaces of a device with readable addresses.
import { Box, Stack, Table, Text } from '@mantine/core'
import type { DeviceDetails } from '../../../domain/fleet/device/device.ts'
import { addressTexts, macText } from '../../../domain/fleet/device/network-address.ts'
import { CheckIcon, DotIcon } from '../../../parts/page/icons.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { CopyableText, DefinitionList } from '../../../parts/text/definition-list.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import classes from '../table.module.css'

type Network = DeviceDetails['networks'][number]

const typeNames: Record<string, string> = { NETWORK_TYPE_ETHERNET: 'Ethernet', NETWORK_TYPE_WIFI: 'Wi-Fi' }
const modeNames: Record<string, string> = { NETWORK_MODE_DHCP: 'DHCP', NETWORK_MODE_STATIC: 'Static' }

export function NetworkSection({ device: { networks, localIpAddress } }: { readonly device: DeviceDetails }) {
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
        {networks.length === 0 ? (
          <Text c="dimmed" fz="sm">
            No network interfaces reported
          </Text>
        ) : (
          <Box role="region" aria-label="Network interfaces" tabIndex={0} style={{ overflowX: 'auto' }}>
            <Table miw={760} verticalSpacing={6} className={classes.table}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Interface</Table.Th>
                  <Table.Th>Link</Table.Th>
                  <Table.Th>Address</Table.Th>
                  <Table.Th>Gateway</Table.Th>
                  <Table.Th>MAC address</Table.Th>
                  <Table.Th>Mode</Table.Th>
                  <Table.Th ta="right">MTU</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {networks.map((network, index) => (
                  <InterfaceRow key={`${network.display ?? ''} ${String(index)}`} network={network} />
                ))}
              </Table.Tbody>
            </Table>
          </Box>
        )}
      </Stack>
    </Section>
  )
}

function InterfaceRow({ network }: { readonly network: Network }) {
  const { type, display, networkName, linkUp, macAddress, mode, mtu } = network
  const kind = type && (typeNames[type] ?? type)
  const addresses = network.addresses.flatMap(({ address, prefix }) =>
    addressTexts(address).map((text) => (prefix === undefined ? text : `${text}/${String(prefix)}`)),
  )
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500}>
        {kind ?? display ?? 'Unknown'}
        <Text span c="dimmed" fz="inherit" fw={400}>
          {kind && display && ` ${display}`}
          {networkName && ` · ${networkName}`}
        </Text>
      </Table.Th>
      <Table.Td>
        <LinkMark up={linkUp} />
      </Table.Td>
      <Table.Td>
        <Lines texts={addresses} />
      </Table.Td>
      <Table.Td>
        <Lines texts={network.gateway.flatMap(addressTexts)} />
      </Table.Td>
      <Table.Td>
        {macAddress ? (
          <CopyableText text={macText(macAddress)} what={`MAC address of ${display ?? kind ?? 'this interface'}`} />
        ) : (
          '–'
        )}
      </Table.Td>
      <Table.Td>{mode ? (modeNames[mode] ?? mode) : '–'}</Table.Td>
      <Table.Td ta="right">{mtu ?? '–'}</Table.Td>
    </Table.Tr>
  )
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
  return up ? (
    <StatusLabel colour="var(--rk-healthy)" icon={<CheckIcon size={16} />}>
      Up
    </StatusLabel>
  ) : (
    <StatusLabel colour="var(--rk-empty)" icon={<DotIcon size={16} />}>
      Down
    </StatusLabel>
  )
}
