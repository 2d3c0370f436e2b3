// The form inside a dialog: its fields, its error, and the buttons to submit and to cancel.
import { Button, Group, Stack, Text } from '@mantine/core'
import type { FormEvent, KeyboardEvent, ReactNode } from 'react'
import { errorMessage } from '../../api.ts'
import { isConcurrentChange } from './concurrent-change.ts'

interface DialogFormProps {
  readonly children: ReactNode
  /** The label of the submit button. */
  readonly verb: string
  readonly canSubmit: boolean
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: () => void
  readonly onCancel: () => void
  /** Loads the current version after someone else has changed the resource. */
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
              {wasChanged ? 'Changed by someone else. Reload and try again.' : errorMessage(error)}
            </Text>
            {wasChanged && (
              <Button variant="default" size="xs" onClick={onReload}>
                Reload
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

/** Ctrl+Enter, or Cmd+Enter on a Mac, submits a text field of several lines. */
export const isSubmitShortcut = ({ key, ctrlKey, metaKey }: KeyboardEvent): boolean =>
  key === 'Enter' && (ctrlKey || metaKey)
