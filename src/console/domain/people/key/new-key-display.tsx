// Shows a new API key once, with a button to copy it.
import { Button, Group, Stack, Text } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import { CheckIcon, CopyIcon, WarnIcon } from '../../../parts/page/icons.tsx'
import { ShownOnceField } from '../../../parts/page/shown-once-field.tsx'

export interface CreatedKey {
  readonly name: string
  readonly key: string
}

interface NewKeyDisplayProps {
  readonly created: CreatedKey
  readonly onDone: () => void
}

export const NewKeyDisplay = ({ created, onDone }: NewKeyDisplayProps) => (
  <Stack>
    <Text style={{ overflowWrap: 'anywhere' }}>
      Key <b>{created.name}</b> created. Copy the key now, for example to a password manager.
    </Text>
    <Group gap="xs" wrap="nowrap" align="flex-end">
      <ShownOnceField label="API key" value={created.key} />
      <CopyKey text={created.key} />
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
      <Button variant="default" onClick={onDone}>
        Done
      </Button>
    </Group>
  </Stack>
)

/** Where the clipboard is not available, focusing the field selects the key. */
function CopyKey({ text }: { readonly text: string }) {
  const { copied, copy, error } = useClipboard({ timeout: 4000 })
  const button = useRef<HTMLButtonElement>(null)
  // The form with the focused button is gone, so the focus moves here.
  useEffect(() => button.current?.focus(), [])
  return (
    <Button ref={button} leftSection={copied ? <CheckIcon /> : <CopyIcon />} onClick={() => copy(text)}>
      {copied ? 'Copied' : error ? 'Select the key to copy' : 'Copy key'}
    </Button>
  )
}
