// Asks before a device is unenrolled, and says what that ends. [contract 4.endpointsDelete]
import { Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useWrite } from '../../api.ts'
import { deviceName } from '../../domain/device/device.ts'
import { RoomName } from '../../domain/site/room-link.tsx'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import classes from '../../parts/dialog/dialog.module.css'
import type { DialogProps } from './reboot-dialog.tsx'

export function UnenrolDialog({
  device,
  etag,
  pair,
  opened,
  onClose,
}: DialogProps & { readonly etag: string | undefined }) {
  const navigate = useNavigate()
  const { roomId } = device
  const unenrol = useWrite('endpointsDelete', {
    quiet: true,
    successText: `${deviceName(device)} is unenrolled.`,
    onDone: () =>
      roomId === undefined
        ? navigate({ to: '/devices' })
        : navigate({ to: '/rooms/$roomId', params: { roomId: String(roomId) } }),
  })
  const others = pair.others.map(deviceName).join(', ')
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Unenrol ${deviceName(device)}?`}
      verb="Unenrol"
      mutation={unenrol}
      onConfirm={() => unenrol.mutate({ input: { id: device.id }, ifMatch: etag })}
    >
      <Text fz="sm">
        {roomId !== undefined && (
          <>
            It leaves <RoomName roomId={roomId} roomName={device.roomName} /> at once.{' '}
          </>
        )}
        This cannot be taken back:
      </Text>
      <ul className={classes.list}>
        <li>Its credential stops working, and its connection is closed.</li>
        <li>Its settings and their history are deleted. What it was asked to do and has not done is cancelled.</li>
        <li>To come back it must enrol again with the code of a room, and is then a new device here.</li>
        {pair.others.length > 0 && (
          <li>
            {others} {pair.others.length === 1 ? 'is' : 'are'} paired with it and{' '}
            {pair.others.length === 1 ? 'stays' : 'stay'} enrolled.
          </li>
        )}
      </ul>
    </ConfirmDialog>
  )
}
