// A field with a secret that is shown once: it is selected when it gets the focus, and no browser stores it.
import { TextInput, type TextInputProps } from '@mantine/core'

export const ShownOnceField = (props: TextInputProps) => (
  <TextInput
    readOnly
    flex={1}
    // At 14 pixels some fonts draw the underscore of a key below the visible part of the field.
    styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } }}
    onFocus={(event) => event.currentTarget.select()}
    autoComplete="off"
    spellCheck={false}
    {...props}
  />
)
