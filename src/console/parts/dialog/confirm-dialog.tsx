// Asks before something happens that cannot be taken back; names what it will happen to.
import { Button, Group, Modal, Stack } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorText, focusTitleIfLost } from '../page/page.tsx'

interface ConfirmDialogProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly title: string
  /** What will happen, and to whom. */
  readonly children: ReactNode
  /** The word on the button: what it does. */
  readonly verb: string
  readonly danger?: boolean
  /** What it does. Its error is shown, and forgotten once the dialog is closed: the next question is about something else. */
  readonly mutation?: Pick<UseMutationResult, 'isPending' | 'error' | 'reset'>
  /** It cannot be done, and the text says why. */
  readonly blocked?: boolean
  /** In the place of the error of the write. */
  readonly error?: unknown
  readonly onConfirm: () => void
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const {
    opened,
    onClose,
    title,
    children,
    verb,
    danger = true,
    mutation,
    blocked = false,
    error = mutation?.error,
  } = props
  const forget = () => {
    mutation?.reset()
    focusTitleIfLost()
  }
  return (
    <Modal opened={opened} onClose={onClose} onExitTransitionEnd={forget} title={title}>
      <Stack>
        <div>{children}</div>
        <ErrorText error={error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            {blocked ? 'Close' : 'Cancel'}
          </Button>
          {!blocked && (
            <Button color={danger ? 'red.8' : 'fjord'} loading={mutation?.isPending === true} onClick={props.onConfirm}>
              {verb}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  )
}
