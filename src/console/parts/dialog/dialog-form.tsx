// The form inside a dialog: its fields, what went wrong, and the two ways out.
import { Button, Group, Stack, Text } from '@mantine/core'
import type { FormEvent, KeyboardEvent, ReactNode } from 'react'
import { errorMessage } from '../../api.ts'
import { ConcurrentChangeError, isConcurrentChange } from './concurrent-change.ts'

interface DialogFormProps {
  readonly children: ReactNode
  /** The word on the button: what it does. */
  readonly verb: string
  readonly canSubmit: boolean
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: () => void
  readonly onCancel: () => void
  /** Shows what the resource is by now, after somebody else has changed it. */
  readonly onReload?: () => void
}

export function DialogForm(props: DialogFormProps) {
  const { children, verb, canSubmit, isBusy, error, onCancel, onReload } = props
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (canSubmit && !isBusy) props.onSubmit()
  }
  const wasChanged = onReload && isConcurrentChange(error)
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {children}
        {error !== undefined && error !== null && (
          <Group role="alert" gap="sm">
            <Text c="var(--rk-offline)" fz="sm">
              {wasChanged ? `${changeText(error)} Load it again, then make your change.` : errorMessage(error)}
            </Text>
            {wasChanged && (
              <Button variant="default" size="xs" onClick={onReload}>
                Load it again
              </Button>
            )}
          </Group>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy} disabled={!canSubmit}>
            {verb}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const changeText = (error: unknown) =>
  error instanceof ConcurrentChangeError ? error.message : 'Somebody changed it meanwhile.'

/** Ctrl+Enter, or Cmd+Enter on a Mac, submits a text field of several lines. */
export const isSubmitShortcut = ({ key, ctrlKey, metaKey }: KeyboardEvent): boolean =>
  key === 'Enter' && (ctrlKey || metaKey)
