// A password: it can be set and unset, and is never shown. [contract 5.3]
import { Checkbox, PasswordInput, Stack } from '@mantine/core'
import type { FieldProps } from './field-props.ts'

export function SecretField({ id, labelId, value, error, onChange, unset, mayHaveSecret }: FieldProps) {
  const isUnset = value === null
  return (
    <Stack gap={6}>
      <PasswordInput
        id={id}
        value={typeof value === 'string' ? value : ''}
        onChange={(event) => onChange(event.currentTarget.value)}
        placeholder={isUnset ? 'Will be unset' : mayHaveSecret ? 'Leave empty to keep it' : unset}
        disabled={isUnset}
        autoComplete="new-password"
        error={error}
        visibilityToggleButtonProps={{ 'aria-label': 'Show what is typed' }}
      />
      {mayHaveSecret && (
        <Checkbox
          size="xs"
          label="Unset the password"
          aria-describedby={labelId}
          checked={isUnset}
          onChange={(event) => onChange(event.currentTarget.checked ? null : '')}
        />
      )}
    </Stack>
  )
}
