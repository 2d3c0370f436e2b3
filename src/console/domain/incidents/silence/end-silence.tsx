// Confirms the end of a silence.
import { Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { useWrite } from '../../../api.ts'
import { ConfirmDialog } from '../../../parts/dialog/confirm-dialog.tsx'
import type { ListedSilence } from './silence.ts'

/** `ask` opens the dialog, which the caller renders. */
export function useEndSilence(): { readonly ask: (silence: ListedSilence) => void; readonly dialog: ReactNode } {
  const [silence, setSilence] = useState<ListedSilence>()
  const [opened, { open, close }] = useDisclosure(false)
  const end = useWrite('silencesDelete', { quiet: true, successText: 'Silence ended', onDone: close })
  const ask = (next: ListedSilence) => {
    setSilence(next)
    open()
  }
  const dialog = (
    <ConfirmDialog
      opened={opened}
      onClose={close}
      title="End silence?"
      verb="End silence"
      danger={false}
      mutation={end}
      onConfirm={() => silence && end.mutate({ input: { id: silence.id } })}
    >
      <Text fz="sm">Current problems can open incidents again.</Text>
      <Text fz="sm" c="dimmed" mt="xs" style={{ overflowWrap: 'anywhere' }}>
        {silence?.reason}
      </Text>
    </ConfirmDialog>
  )
  return { ask, dialog }
}
