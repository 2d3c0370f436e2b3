// The dialog that shows the changes before they are saved.
import { Button, Card, Group, Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ErrorText } from '../page/page.tsx'
import { DiffTable } from '../text/diff-table.tsx'
import { StatusLabel } from '../text/status-label.tsx'

type Values = Readonly<Record<string, unknown>>

interface ReviewDialogProps {
  readonly opened: boolean
  readonly onClose: () => void
  /** Says how many settings change, and where. */
  readonly title: string
  readonly before: Values
  readonly after: Values
  /** Further effects of the change. */
  readonly children?: ReactNode
  readonly verb: string
  readonly isBusy: boolean
  readonly error: unknown
  /** The change is not possible; `children` explain why. */
  readonly blocked?: boolean
  readonly onConfirm: () => void
  /** Set if the settings were changed by someone else; the user must continue from the new values first. */
  readonly onContinue?: (() => void) | undefined
}

export function ReviewDialog(props: ReviewDialogProps) {
  const { opened, onClose, title, before, after, children, verb, isBusy, error, blocked = false, onContinue } = props
  return (
    <Modal opened={opened} onClose={onClose} title={title} size="xl">
      <Stack>
        {onContinue && <ConcurrentChangeNotice onContinue={onContinue} />}
        {!blocked && <DiffTable before={before} after={after} />}
        {children && (
          <Text component="div" fz="sm">
            {children}
          </Text>
        )}
        {!onContinue && <ErrorText error={error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            {blocked ? 'Close' : 'Cancel'}
          </Button>
          {!blocked && !onContinue && (
            <Button loading={isBusy} onClick={props.onConfirm}>
              {verb}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  )
}

/** Says that the settings were changed by someone else, and lets the user continue from the new values. */
export const ConcurrentChangeNotice = ({ onContinue }: { readonly onContinue: () => void }) => (
  <Card role="alert" bg="var(--rk-panel)" style={{ borderColor: 'var(--rk-degraded)' }}>
    <Stack gap="xs" align="flex-start">
      <StatusLabel tone="warning">Changed by someone else</StatusLabel>
      <Text fz="sm">The latest values are shown, and your edits are kept. Check them, then continue.</Text>
      <Button variant="default" size="xs" onClick={onContinue}>
        Continue
      </Button>
    </Stack>
  </Card>
)
