// A new key, shown this once, with what that means.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import { CheckIcon, CopyIcon, WarnIcon } from '../../parts/page/icons.tsx'

export interface MadeKey {
  readonly name: string
  readonly key: string
}

interface NewKeyShownProps {
  readonly made: MadeKey
  readonly onKept: () => void
}

export const NewKeyShown = ({ made, onKept }: NewKeyShownProps) => (
  <Stack>
    <Text style={{ overflowWrap: 'anywhere' }}>
      Key <b>{made.name}</b> created. Copy the key now, for example to a password manager.
    </Text>
    <Group gap="xs" wrap="nowrap" align="flex-end">
      <TextInput
        label="API key"
        value={made.key}
        readOnly
        flex={1}
        // At 14 pixels some fonts draw the underscore of a key below what the field shows.
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
        onFocus={(event) => event.currentTarget.select()}
        autoComplete="off"
        spellCheck={false}
      />
      <CopyKey text={made.key} />
    </Group>
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Text span c="var(--rk-degraded)">
        <WarnIcon />
      </Text>
      <Text fz="sm">
        <b>You won’t be able to see the key again.</b> If you lose it, create a new key and revoke this one.
      </Text>
    </Group>
    <Group justify="flex-end">
      <Button variant="default" onClick={onKept}>
        Done
      </Button>
    </Group>
  </Stack>
)

/** Without the clipboard, the field is selected as soon as it is entered. */
function CopyKey({ text }: { readonly text: string }) {
  const { copied, copy, error } = useClipboard({ timeout: 4000 })
  const button = useRef<HTMLButtonElement>(null)
  // The button that was pressed is gone with the form.
  useEffect(() => button.current?.focus(), [])
  return (
    <Button ref={button} leftSection={copied ? <CheckIcon /> : <CopyIcon />} onClick={() => copy(text)}>
      {copied ? 'Copied' : error ? 'Select the key to copy' : 'Copy key'}
    </Button>
  )
}
