// Confirms that a device is taken from its gateway, and asks whether it is unenrolled too. [contract 13.items]
import { Checkbox, Text } from '@mantine/core'
import { useState } from 'react'
import { oneLine } from '../../../../contract/words.ts'
import { useWrite } from '../../../api.ts'
import { type GatewayItem, itemName } from '../../../domain/fleet/gateway/gateway.ts'
import { useRoomNames } from '../../../domain/fleet/room/room-names.ts'
import { ConfirmDialog } from '../../../parts/dialog/confirm-dialog.tsx'

interface DeleteItemProps {
  readonly item: GatewayItem
  readonly opened: boolean
  readonly onClose: () => void
}

export function DeleteItem({ item, opened, onClose }: DeleteItemProps) {
  const [isUnenrolled, setUnenrolled] = useState(true)
  const name = oneLine(itemName(item))
  const remove = useWrite('gatewayDevicesDelete', { quiet: true, successText: `${name} deleted`, onDone: onClose })
  const { id: deviceId, gatewayId: id, endpointId, roomId, roomName } = item
  const roomNameOf = useRoomNames({ enabled: opened })
  const unenrol = endpointId !== undefined && isUnenrolled
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Delete ${name}?`}
      verb="Delete device"
      mutation={remove}
      onConfirm={() => remove.mutate({ input: { id, deviceId, unenrol } })}
    >
      <Text fz="sm">The gateway disconnects from the device and forgets its address and its password.</Text>
      {endpointId !== undefined && (
        <Checkbox
          mt="sm"
          label="Unenrol the device too"
          description={
            isUnenrolled
              ? 'It leaves its room, and its settings and their history are deleted. This cannot be undone.'
              : `It stays ${roomId === undefined ? 'listed' : `in ${roomNameOf(roomId, roomName)}`}, offline and without a gateway.`
          }
          checked={isUnenrolled}
          onChange={(event) => setUnenrolled(event.currentTarget.checked)}
        />
      )}
    </ConfirmDialog>
  )
}
