// The button that has a gateway test a device or a source, with a line that says what it does.
import { Button, Group, Loader, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ErrorText } from '../../../parts/page/page.tsx'

interface TestLineProps {
  readonly test: { readonly isPending: boolean; readonly error: unknown }
  readonly canRun: boolean
  readonly onRun: () => void
  readonly children: ReactNode
}

export const TestLine = ({ test: { isPending, error }, canRun, onRun, children }: TestLineProps) => (
  <>
    <Group gap="sm">
      <Button variant="default" loading={isPending} disabled={!canRun} onClick={onRun}>
        Test
      </Button>
      <Text fz="sm" c="dimmed" role="status" flex={1}>
        {children}
      </Text>
      {isPending && <Loader size="xs" aria-hidden="true" />}
    </Group>
    <ErrorText error={error} />
  </>
)
