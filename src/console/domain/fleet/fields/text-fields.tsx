// The text fields that several forms have: the external id, and who to ask.
import { TextInput } from '@mantine/core'
import { maxContactLength, maxExternalIdLength } from '../../../../contract/fleet/custom-fields.ts'

interface TextFieldProps {
  readonly value: string
  readonly onChange: (value: string) => void
}

export const ExternalIdField = ({ value, onChange }: TextFieldProps) => (
  <TextInput
    label="External ID"
    description="Its key in another system, such as an asset database. Optional."
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
    maxLength={maxExternalIdLength}
    autoComplete="off"
  />
)

export const ContactField = ({ value, onChange }: TextFieldProps) => (
  <TextInput
    label="Contact"
    description="Person or team to ask. Optional."
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
    maxLength={maxContactLength}
    autoComplete="off"
  />
)

/** An empty text clears what is stored. */
export const textOrNull = (text: string): string | null => text.trim() || null
