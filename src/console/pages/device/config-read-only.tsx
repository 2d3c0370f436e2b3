// What a device reports about itself and nobody can set from here. [contract 4.endpointsSettings]
import { Code, Table, Text } from '@mantine/core'
import { readOnlyKeys } from '../../../contract/config-keys.ts'
import { Section } from '../../parts/page/page.tsx'
import { settingName } from '../../parts/settings-form/setting-sections.ts'
import { type SettingValues, valueText } from '../../parts/settings-form/setting-values.ts'

export function ReadOnlySettings({ settings }: { readonly settings: SettingValues }) {
  const known = Object.keys(readOnlyKeys).filter((name) => settings[name] !== undefined)
  return (
    <Section title="Only reported">
      <Text fz="sm" c="dimmed" mb="xs">
        {known.length > 0
          ? 'The device says this about itself. It cannot be set from here.'
          : 'The device has not said anything about itself yet.'}
      </Text>
      {known.length > 0 && (
        <Table layout="fixed" fz="sm" aria-label="Only reported">
          <Table.Tbody>
            {known.map((name) => (
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
