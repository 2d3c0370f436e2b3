// Shows what will change, before anything is sent.
import { Button, Card, Group, Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { WarnIcon } from '../page/icons.tsx'
import { ErrorText } from '../page/page.tsx'
import { DiffTable } from '../text/diff-table.tsx'
import { StatusLabel } from '../text/status-label.tsx'

type Values = Readonly<Record<string, unknown>>

interface ReviewDialogProps {
  readonly opened: boolean
  readonly onClose: () => void
  /** How much will change, and on what. */
  readonly title: string
  readonly before: Values
  readonly after: Values
  /** What happens besides, and when. */
  readonly children?: ReactNode
  readonly verb: string
  readonly isBusy: boolean
  readonly error: unknown
  /** It cannot be done, and the text says why. */
  readonly blocked?: boolean
  readonly onConfirm: () => void
  /** Somebody has changed it meanwhile: look at it again first. */
  readonly onContinue?: (() => void) | undefined
}

export function ReviewDialog(props: ReviewDialogProps) {
  const { opened, onClose, title, before, after, children, verb, isBusy, error, blocked = false, onContinue } = props
  return (
    <Modal opened={opened} onClose={onClose} title={title} size="xl" styles={{ title: { fontWeight: 650 } }}>
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

/** Says that the ground has moved, and lets one go on from what is there now. */
export const ConcurrentChangeNotice = ({ onContinue }: { readonly onContinue: () => void }) => (
  <Card role="alert" bg="var(--rk-panel)" style={{ borderColor: 'var(--rk-degraded)' }}>
    <Stack gap="xs" align="flex-start">
      <StatusLabel colour="var(--rk-degraded)" icon={<WarnIcon size={16} />}>
        Somebody changed it meanwhile
      </StatusLabel>
      <Text fz="sm">
        What is shown as set now is what they have made of it. Your own changes are kept. Look through them, then go on.
      </Text>
      <Button variant="default" size="xs" onClick={onContinue}>
        I have looked, go on
      </Button>
    </Stack>
  </Card>
)
