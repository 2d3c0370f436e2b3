// Creates a key in a dialog and then shows it; only the Done button closes the dialog then.
import { Modal } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { type CreatedKey, NewKeyDisplay } from './new-key-display.tsx'

interface NewKeyDialogProps {
  readonly title: string
  readonly opened: boolean
  readonly onClose: () => void
  /** Renders the form, which reports the key that it has created. */
  readonly form: (onCreated: (created: CreatedKey) => void) => ReactNode
}

export function NewKeyDialog({ title, opened, onClose, form }: NewKeyDialogProps) {
  const [created, setCreated] = useState<CreatedKey>()
  const canLeave = created === undefined
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={canLeave ? title : 'Save your key'}
      size={canLeave ? 'md' : 'lg'}
      withCloseButton={canLeave}
      closeOnEscape={canLeave}
      closeOnClickOutside={canLeave}
      onExitTransitionEnd={() => setCreated(undefined)}
    >
      {created ? <NewKeyDisplay created={created} onDone={onClose} /> : form(setCreated)}
    </Modal>
  )
}
