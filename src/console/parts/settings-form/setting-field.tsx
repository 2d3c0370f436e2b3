// The control of a setting, by its type. Each control can also show that the setting is not set.
import { Autocomplete, NumberInput, SegmentedControl, Select, Stack, Text } from '@mantine/core'
import type { FieldProps } from './field-props.ts'
import { SecretField } from './secret-field.tsx'
import { durationText, enumChoices, explanationOf } from './setting-values.ts'

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

function NumberField({ id, configKey, value, error, onChange, unset }: FieldProps) {
  const { type, min, max, unit } = configKey
  const duration = unit === 'ms' && typeof value === 'number' ? durationText(value) : undefined
  return (
    <NumberInput
      id={id}
      value={value === undefined || value === null ? '' : Number.isNaN(Number(value)) ? String(value) : Number(value)}
      onChange={(next) => onChange(next === '' ? null : next)}
      allowDecimal={type === 'number'}
      step={max !== undefined && max <= 1 ? 0.05 : unit === 'ms' ? 60_000 : 1}
      {...(min !== undefined && { min })}
      {...(max !== undefined && { max })}
      // A value outside the limits is reported, not corrected silently.
      clampBehavior="none"
      suffix={unit ? ` ${unit}` : ''}
      placeholder={unset}
      error={error}
      description={duration && `= ${duration}`}
      inputWrapperOrder={['input', 'description', 'error']}
    />
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

const zones = Intl.supportedValuesOf('timeZone')
/** Intl does not list UTC. */
const zonesAndUtc = zones.includes('UTC') ? zones : ['UTC', ...zones]

function ZoneField({ id, value, error, onChange, unset }: FieldProps) {
  const zone = typeof value === 'string' ? value : null
  return (
    <Select
      id={id}
      comboboxProps={unmountWhenClosed}
      data={zone === null || zonesAndUtc.includes(zone) ? zonesAndUtc : [zone, ...zonesAndUtc]}
      value={zone}
      onChange={onChange}
      placeholder={unset}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Clear' }}
      limit={60}
      filter={({ options, search }) => {
        const wanted = search.toLowerCase().trim().replaceAll(' ', '_')
        return options.filter((option) => 'value' in option && String(option.value).toLowerCase().includes(wanted))
      }}
      nothingFoundMessage="No matches. Try a large city."
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
