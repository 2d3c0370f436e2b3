// The button that silences a place, with its dialog.
import { Button, Modal } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { BellOffIcon } from '../../../parts/page/icons.tsx'
import type { SilencedPlace } from './silence.ts'
import { SilenceForm } from './silence-form.tsx'

interface SilenceDialogProps {
  readonly place: SilencedPlace | undefined
  readonly name: string
  readonly opened: boolean
  readonly onClose: () => void
}

export const SilenceDialog = ({ place, name, opened, onClose }: SilenceDialogProps) => (
  <Modal opened={opened} onClose={onClose} title={`Silence ${name}`}>
    <SilenceForm place={place} intro={null} onClose={onClose} />
  </Modal>
)

export function SilenceButton({ place, name }: Pick<SilenceDialogProps, 'place' | 'name'>) {
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button variant="default" leftSection={<BellOffIcon />} onClick={open}>
        Silence
      </Button>
      <SilenceDialog place={place} name={name} opened={opened} onClose={close} />
    </>
  )
}
