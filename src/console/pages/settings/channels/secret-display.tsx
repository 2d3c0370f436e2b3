// Shows the signing secret of a webhook once, with a button to copy it.
import { Button, Group, Stack, Text } from '@mantine/core'
import { CopyIconButton } from '../../../parts/page/copy-icon-button.tsx'
import { ShownOnceField } from '../../../parts/page/shown-once-field.tsx'

interface SecretDisplayProps {
  readonly secret: string
  readonly onDone: () => void
}

export const SecretDisplay = ({ secret, onDone }: SecretDisplayProps) => (
  <Stack>
    <Text fz="sm">
      The receiver verifies messages with this secret. <b>You won’t be able to see it again.</b>
    </Text>
    <Group gap="xs" wrap="nowrap" align="flex-end">
      <ShownOnceField label="Signing secret" value={secret} data-autofocus />
      <CopyIconButton text={secret} tip="Copy secret" size={36} />
    </Group>
    <Group justify="flex-end">
      <Button onClick={onDone}>Done</Button>
    </Group>
  </Stack>
)
