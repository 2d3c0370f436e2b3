// Making a key, in one dialog: the form, then the key itself; from there only the button that says it is kept leads out.
import { Modal } from '@mantine/core'
import { useState } from 'react'
import { NewKeyForm } from './new-key-form.tsx'
import { type MadeKey, NewKeyShown } from './new-key-shown.tsx'

interface NewKeyDialogProps {
  readonly opened: boolean
  readonly onClose: () => void
}

export function NewKeyDialog({ opened, onClose }: NewKeyDialogProps) {
  const [made, setMade] = useState<MadeKey>()
  const canLeave = made === undefined
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={canLeave ? 'New API key' : 'Save your key'}
      size={canLeave ? 'md' : 'lg'}
      withCloseButton={canLeave}
      closeOnEscape={canLeave}
      closeOnClickOutside={canLeave}
      onExitTransitionEnd={() => setMade(undefined)}
    >
      {made ? <NewKeyShown made={made} onKept={onClose} /> : <NewKeyForm onCancel={onClose} onMade={setMade} />}
    </Modal>
  )
}
