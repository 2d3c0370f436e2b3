// Creates a key in a dialog and then shows it; only the Done button closes the dialog then.
import { Modal } from '@mantine/core'
import { useState } from 'react'
import { type CreatedKey, NewKeyDisplay } from './new-key-display.tsx'
import { NewKeyForm } from './new-key-form.tsx'

interface NewKeyDialogProps {
  readonly opened: boolean
  readonly onClose: () => void
}

export function NewKeyDialog({ opened, onClose }: NewKeyDialogProps) {
  const [created, setCreated] = useState<CreatedKey>()
  const canLeave = created === undefined
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={canLeave ? 'New API key' : 'Save your key'}
      size={canLeave ? 'md' : 'lg'}
      withCloseButton={canLeave}
      closeOnEscape={canLeave}
      closeOnClickOutside={canLeave}
      onExitTransitionEnd={() => setCreated(undefined)}
    >
      {created ? (
        <NewKeyDisplay created={created} onDone={onClose} />
      ) : (
        <NewKeyForm onCancel={onClose} onCreated={setCreated} />
      )}
    </Modal>
  )
}
