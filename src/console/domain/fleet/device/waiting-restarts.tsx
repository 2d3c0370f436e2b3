// Says which restarts wait, and for what, on the pages of their device and room. [contract 12.when]
import { Button, Group, Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import type { OperationWait } from '../../../../contract/fleet/commands.ts'
import { operationQuery, useWrite } from '../../../api.ts'
import { ClockIcon } from '../../../parts/page/icons.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { usePermissions } from '../../../session.ts'
import { deviceName, type ListedDevice } from './device.ts'

export const waitTexts: Record<OperationWait, string> = {
  idle: 'Restart waits until the room is empty',
  window: 'Restart waits for the change window',
  connection: 'Restart waits until the device is online',
}

/** One line for each restart that waits for one of these devices. With several devices each line names its own. */
export function WaitingRestarts({ devices }: { readonly devices: readonly ListedDevice[] }) {
  const { operations } = useSuspenseQuery(operationQuery('operationsList')).data.body
  const { operate } = usePermissions()
  const cancel = useWrite('operationsCancel', { successText: 'Restart cancelled' })
  const byId = new Map(devices.map((device) => [device.id, device]))
  const waiting = operations.flatMap((operation) => {
    const device = byId.get(operation.endpointId)
    return device && operation.type === 'REBOOT' && operation.waitsFor
      ? [{ id: operation.id, device, waitsFor: operation.waitsFor }]
      : []
  })
  if (waiting.length === 0) return null
  const lines = waiting.map(({ id, device, waitsFor }) => (
    <Group key={id} gap="xs" role="status" wrap="nowrap">
      <StatusLabel tone="plain" icon={<ClockIcon size={16} />}>
        <Text span fz="sm">
          {devices.length > 1 ? `${deviceName(device)}: ${waitTexts[waitsFor]}` : waitTexts[waitsFor]}
        </Text>
      </StatusLabel>
      {operate && (
        <Button
          variant="default"
          size="compact-xs"
          mih={24}
          style={{ flex: 'none' }}
          loading={cancel.isPending}
          onClick={() => cancel.mutate({ input: { id } })}
          aria-label={`Cancel the restart of ${deviceName(device)}`}
        >
          Cancel
        </Button>
      )}
    </Group>
  ))
  return <Stack gap={6}>{lines}</Stack>
}
