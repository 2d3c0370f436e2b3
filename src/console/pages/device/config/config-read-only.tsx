// Lists the settings that a device reports and that cannot be changed. [contract 4.endpointsSettings]
import { Code, Table, Text } from '@mantine/core'
import { readOnlyKeys } from '../../../../contract/device/config-keys.ts'
import { settingName } from '../../../../contract/device/setting-names.ts'
import { Section } from '../../../parts/page/page.tsx'
import { type SettingValues, valueText } from '../../../parts/settings-form/setting-values.ts'

export function ReadOnlySettings({ settings }: { readonly settings: SettingValues }) {
  const names = Object.keys(readOnlyKeys).filter((name) => settings[name] !== undefined)
  return (
    <Section title="Read-only">
      <Text fz="sm" c="dimmed" mb="xs">
        {names.length > 0
          ? 'Reported by the device. These values cannot be changed here.'
          : 'The device has not reported any values yet.'}
      </Text>
      {names.length > 0 && (
        <Table layout="fixed" fz="sm" aria-label="Read-only settings">
          <Table.Tbody>
            {names.map((name) => (
              <Table.Tr key={name}>
                <Table.Th scope="row" fw={550}>
                  {settingName(name)}{' '}
                  <Code bg="transparent" c="dimmed" fw={400}>
                    {name}
                  </Code>
                </Table.Th>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{valueText(name, settings[name])}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Section>
  )
}
