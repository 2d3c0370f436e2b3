// The control of a setting, by its type. Each control can also show that the setting is not set.
import { Autocomplete, SegmentedControl, Select, Stack, Text } from '@mantine/core'
import { ZoneSelect } from '../page/zone-select.tsx'
import type { FieldProps } from './field-props.ts'
import { NumberField } from './number-field.tsx'
import { SecretField } from './secret-field.tsx'
import { enumChoices, explanationOf } from './setting-values.ts'

export function SettingField(props: FieldProps) {
  switch (props.configKey.type) {
    case 'boolean':
      return <SwitchField {...props} />
    case 'number':
    case 'integer':
      return <NumberField {...props} />
    case 'enum':
      return <ChoiceField {...props} />
    case 'string':
      if (props.configKey.secret) return <SecretField {...props} />
      return props.configKey.format === 'timezone' ? <ZoneField {...props} /> : <TextField {...props} />
  }
}

/** A form has many selects, so closed lists are not kept in the page. */
const unmountWhenClosed = { keepMounted: false }

function SwitchField({ labelId, value, error, onChange, unset }: FieldProps) {
  const states = [
    { value: 'unset', label: unset },
    { value: 'off', label: 'Off' },
    { value: 'on', label: 'On' },
  ]
  return (
    <Stack gap={4} align="flex-start">
      <SegmentedControl
        aria-labelledby={labelId}
        data={states}
        value={typeof value === 'boolean' ? (value ? 'on' : 'off') : 'unset'}
        onChange={(state) => onChange(state === 'unset' ? null : state === 'on')}
        transitionDuration={0}
        {...(typeof value === 'boolean' && { color: 'fjord' })}
      />
      {error && (
        <Text role="alert" c="var(--rk-offline)" fz="xs">
          {error}
        </Text>
      )}
    </Stack>
  )
}

function ChoiceField({ id, name, value, stored, error, onChange, unset }: FieldProps) {
  return (
    <Select
      id={id}
      comboboxProps={unmountWhenClosed}
      data={enumChoices(name, stored)}
      value={typeof value === 'string' ? value : null}
      onChange={onChange}
      placeholder={unset}
      clearable
      clearButtonProps={{ 'aria-label': 'Clear' }}
      error={error}
    />
  )
}

function ZoneField({ id, value, error, onChange, unset }: FieldProps) {
  return (
    <ZoneSelect
      id={id}
      comboboxProps={unmountWhenClosed}
      value={typeof value === 'string' ? value : null}
      onChange={onChange}
      placeholder={unset}
      error={error}
    />
  )
}

function TextField({ id, name, configKey, value, error, onChange, unset }: FieldProps) {
  return (
    <Autocomplete
      id={id}
      comboboxProps={unmountWhenClosed}
      data={configKey.values ?? []}
      value={typeof value === 'string' ? value : ''}
      onChange={(text) => onChange(text === '' ? null : text)}
      renderOption={({ option }) => {
        const gloss = explanationOf(name, option.value)
        return gloss ? `${option.value} (${gloss})` : option.value
      }}
      // All known values are listed even while the field holds one of them.
      filter={({ options, search }) => {
        if (configKey.values?.includes(search)) return options
        return options.filter((option) => 'value' in option && String(option.value).includes(search))
      }}
      placeholder={unset}
      clearable
      clearButtonProps={{ 'aria-label': 'Clear' }}
      error={error}
      autoComplete="off"
    />
  )
}
