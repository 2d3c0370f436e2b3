// Lists the settings that a device reports and that cannot be changed. [contract 4.endpointsSettings]
import { Code, Text } from '@mantine/core'
import { readOnlyKeys } from '../../../../contract/device/config-keys.ts'
import { settingName } from '../../../../contract/device/setting-names.ts'
import { Section } from '../../../parts/page/page.tsx'
import { type SettingValues, valueText } from '../../../parts/settings-form/setting-values.ts'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'

export function ReadOnlySettings({ settings }: { readonly settings: SettingValues }) {
  const reported = Object.keys(readOnlyKeys).filter((key) => settings[key] !== undefined)
  return (
    <Section title="Read-only">
      <Text fz="sm" c="dimmed" mb="xs">
        {reported.length > 0
          ? 'Reported by the device. These values cannot be changed here.'
          : 'The device has not reported any values yet.'}
      </Text>
      {reported.length > 0 && (
        <DataTable
          label="Read-only settings"
          rows={reported.map((key) => ({ key, value: valueText(key, settings[key]) }))}
          columns={columns}
          keyOf={({ key }) => key}
        />
      )}
    </Section>
  )
}

interface ReadOnlySetting {
  readonly key: string
  readonly value: string
}

const columns: readonly Column<ReadOnlySetting>[] = [
  {
    id: 'setting',
    title: 'Setting',
    width: '50%',
    cell: ({ key }) => (
      <>
        {settingName(key)}{' '}
        <Code bg="transparent" c="dimmed" fw={400}>
          {key}
        </Code>
      </>
    ),
  },
  { id: 'value', title: 'Value', breaksWords: true, cell: ({ value }) => value },
]
