// The dialog that asks for confirmation before an action.
import { Button, Group, Modal, Stack } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorText, focusTitleIfLost } from '../page/page.tsx'

interface ConfirmDialogProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly title: string
  /** Explains what will happen. */
  readonly children: ReactNode
  /** The label of the button. */
  readonly verb: string
  readonly danger?: boolean
  /** The mutation that the dialog confirms. Its error is shown, and reset when the dialog closes. */
  readonly mutation?: Pick<UseMutationResult, 'isPending' | 'error' | 'reset'>
  /** The action is not possible; `children` explain why. */
  readonly blocked?: boolean
  /** Shown instead of the error of the mutation. */
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
  const reset = () => {
    mutation?.reset()
    focusTitleIfLost()
  }
  return (
    <Modal opened={opened} onClose={onClose} onExitTransitionEnd={reset} title={title}>
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
