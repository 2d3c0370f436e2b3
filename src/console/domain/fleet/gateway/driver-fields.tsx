// The fields of a gateway's device, as its driver describes them.
import { Checkbox, NumberInput, PasswordInput, Select, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { DriverField } from '../../../../contract/fleet/drivers.ts'
import { DisclosureButton } from '../../../parts/page/disclosure-button.tsx'
import classes from './gateway.module.css'
import type { GatewayDriver, GatewayItem } from './gateway.ts'
import { type ItemDraft, isSeldomChanged, keepsSecret, shownFields } from './item-draft.ts'

interface DriverFieldsProps {
  readonly driver: GatewayDriver
  readonly draft: ItemDraft
  readonly onChange: (draft: ItemDraft) => void
  /** The stored device, in a form that changes one. */
  readonly item?: GatewayItem | undefined
  /** The address has changed, and with it the stored secrets are gone. */
  readonly isMoved: boolean
}

export function DriverFields(props: DriverFieldsProps) {
  const { driver, draft } = props
  const [isOpen, more] = useDisclosure(false)
  const fields = shownFields(driver, draft)
  const usual = fields.filter((field) => !isSeldomChanged(field, driver))
  const seldom = fields.filter((field) => isSeldomChanged(field, driver))
  const named = (name: string) => usual.filter((field) => field.name === name)
  const others = usual.filter(({ name }) => name !== 'host' && name !== 'port')
  const of = (field: DriverField) => <Field key={field.name} {...props} field={field} />
  return (
    <>
      <div className={classes.pair}>
        {named('host').map(of)}
        {named('port').map(of)}
      </div>
      <div className={classes.equalPair}>{others.map(of)}</div>
      {seldom.length > 0 && (
        <div>
          <DisclosureButton isOpen={isOpen} onClick={more.toggle}>
            More options
          </DisclosureButton>
          {isOpen && <div className={classes.equalPair}>{seldom.map(of)}</div>}
        </div>
      )}
    </>
  )
}

interface FieldProps extends DriverFieldsProps {
  readonly field: DriverField
}

/** Below the input, to keep the inputs of a row on one line. */
const order: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error']

function Field({ field, draft, onChange, item, isMoved }: FieldProps) {
  const { name, label, help, type, secret, required, choices = [], min, max } = field
  const value = draft.values[name] ?? ''
  const set = (next: string | number | boolean) =>
    onChange({
      ...draft,
      values: { ...draft.values, [name]: next },
      cleared: draft.cleared.filter((one) => one !== name),
    })
  const common = { label, description: help, inputWrapperOrder: order, withAsterisk: required }
  if (secret) return <SecretField {...{ field, draft, onChange, item, isMoved }} onText={set} />
  switch (type) {
    case 'BOOLEAN':
      return (
        <Checkbox
          label={label}
          description={help}
          checked={value === true}
          onChange={(event) => set(event.currentTarget.checked)}
        />
      )
    case 'CHOICE':
      return (
        <Select
          {...common}
          data={choices.map((choice) => ({ value: choice.value, label: choice.label }))}
          value={String(value)}
          onChange={(next) => next !== null && set(next)}
          allowDeselect={false}
        />
      )
    case 'NUMBER':
      return (
        <NumberInput
          {...common}
          value={typeof value === 'boolean' ? '' : value}
          onChange={set}
          {...(field.default !== undefined && { placeholder: String(field.default) })}
          {...(min !== undefined && { min })}
          {...(max !== undefined && { max })}
          allowDecimal={false}
          hideControls
        />
      )
    case 'TEXT':
      return (
        <TextInput
          {...common}
          value={String(value)}
          onChange={(event) => set(event.currentTarget.value)}
          {...(max !== undefined && { maxLength: max })}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
        />
      )
  }
}

interface SecretFieldProps extends Omit<FieldProps, 'driver'> {
  readonly onText: (text: string) => void
}

/** Stored secrets are never shown. One that the driver does not need can be deleted. */
function SecretField({ field, draft, onChange, item, isMoved, onText }: SecretFieldProps) {
  const { name, label, help, required, max } = field
  const isStored = item?.secrets.includes(name) === true && !isMoved
  const isCleared = draft.cleared.includes(name)
  return (
    <Stack gap={6}>
      <PasswordInput
        label={label}
        description={help}
        inputWrapperOrder={order}
        withAsterisk={required && !keepsSecret(name, draft, item, isMoved)}
        value={String(draft.values[name] ?? '')}
        onChange={(event) => onText(event.currentTarget.value)}
        placeholder={isCleared ? 'Will be deleted' : isStored ? 'Unchanged' : ''}
        disabled={isCleared}
        {...(max !== undefined && { maxLength: max })}
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': `Show or hide: ${label}` }}
      />
      {isStored && !required && (
        <Checkbox
          size="xs"
          label={`Delete: ${label}`}
          checked={isCleared}
          onChange={(event) =>
            onChange({
              ...draft,
              values: { ...draft.values, [name]: '' },
              cleared: event.currentTarget.checked
                ? [...draft.cleared, name]
                : draft.cleared.filter((one) => one !== name),
            })
          }
        />
      )}
    </Stack>
  )
}
