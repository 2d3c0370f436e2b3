// The control of a password, which can be set and removed and is never shown. [contract 5.3]
import { Checkbox, PasswordInput, Stack } from '@mantine/core'
import type { FieldProps } from './field-props.ts'

export function SecretField({ id, labelId, value, error, onChange, unset, mayHaveSecret }: FieldProps) {
  const isRemoved = value === null
  return (
    <Stack gap={6}>
      <PasswordInput
        id={id}
        value={typeof value === 'string' ? value : ''}
        onChange={(event) => onChange(event.currentTarget.value)}
        placeholder={isRemoved ? 'Will be removed' : mayHaveSecret ? 'Unchanged' : unset}
        disabled={isRemoved}
        autoComplete="new-password"
        error={error}
        visibilityToggleButtonProps={{ 'aria-label': 'Show or hide password' }}
      />
      {mayHaveSecret && (
        <Checkbox
          size="xs"
          label="Remove password"
          aria-describedby={labelId}
          checked={isRemoved}
          onChange={(event) => onChange(event.currentTarget.checked ? null : '')}
        />
      )}
    </Stack>
  )
}
