// The control of a number: brightness is entered in per cent, and a time in minutes or seconds.
import { Group, NativeSelect, NumberInput } from '@mantine/core'
import { useState } from 'react'
import { settingName } from '../../../contract/device/setting-names.ts'
import type { FieldProps } from './field-props.ts'
import { isDuration, minutes, type SettingUnit, seconds, unitOf } from './setting-units.ts'

export function NumberField(props: FieldProps) {
  const { name, configKey, value, stored } = props
  const [chosen, setChosen] = useState<SettingUnit>()
  if (!isDuration(configKey)) return <NumberEntry {...props} unit={unitOf(configKey, value)} />
  // The unit of what is stored, because a unit that follows the value would change while the user types.
  const unit = chosen ?? unitOf(configKey, stored) ?? minutes
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <NumberEntry {...props} unit={unit} />
      <NativeSelect
        aria-label={`Unit of ${settingName(name)}`}
        data={[minutes, seconds].map((one) => ({ value: one.symbol, label: one.name }))}
        value={unit.symbol}
        // The time stays as it is: only its number changes.
        onChange={(event) => setChosen(event.currentTarget.value === seconds.symbol ? seconds : minutes)}
      />
    </Group>
  )
}

/** The text that was typed last, and the value that it stands for. */
interface Entered {
  readonly shown: number | string
  readonly value: number | string | null
  readonly unit: SettingUnit | undefined
}

function NumberEntry(props: FieldProps & { readonly unit: SettingUnit | undefined }) {
  const { id, configKey, value, error, onChange, unset, unit } = props
  const { type, min, max } = configKey
  const [entered, setEntered] = useState<Entered>()
  const inUnit = (stored: number) => (unit ? unit.fromStored(stored) : stored)
  // The text stays as it was typed, such as "1." on the way to "1.5".
  const isTyped = entered !== undefined && entered.value === value && entered.unit === unit
  const shown = isTyped ? entered.shown : typeof value === 'number' ? inUnit(value) : String(value ?? '')
  const enter = (next: number | string) => {
    const number = next === '' ? Number.NaN : Number(next)
    const stored = Number.isNaN(number) ? next || null : unit ? unit.toStored(number) : number
    setEntered({ shown: next, value: stored, unit })
    onChange(stored)
  }
  return (
    <NumberInput
      id={id}
      flex={1}
      value={shown}
      onChange={enter}
      allowDecimal={unit !== undefined || type === 'number'}
      {...(unit && { decimalScale: unit.decimals })}
      step={unit?.step ?? 1}
      {...(min !== undefined && { min: inUnit(min) })}
      {...(max !== undefined && { max: inUnit(max) })}
      // A value outside the limits is reported, not corrected silently.
      clampBehavior="none"
      suffix={unit ? (isDuration(configKey) ? '' : ` ${unit.symbol}`) : configKey.unit ? ` ${configKey.unit}` : ''}
      placeholder={unset}
      error={error}
      inputWrapperOrder={['input', 'description', 'error']}
    />
  )
}
