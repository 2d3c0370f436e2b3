// Confirms that a device is unenrolled, and lists the consequences. [contract 4.endpointsDelete]
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { operationQuery, useWrite } from '../../api.ts'
import { type DeviceDetails, deviceName } from '../../domain/fleet/device/device.ts'
import { itemCount } from '../../domain/fleet/gateway/gateway.ts'
import { RoomName } from '../../domain/fleet/site/room-link.tsx'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import classes from '../../parts/dialog/dialog.module.css'
import { plural } from '../../parts/text/words.ts'
import type { PairDialogProps } from './pair-dialog-props.ts'

export function UnenrolDialog({
  device,
  etag,
  pair,
  opened,
  onClose,
}: PairDialogProps & { readonly etag: string | undefined }) {
  const navigate = useNavigate()
  const { roomId } = device
  const unenrol = useWrite('endpointsDelete', {
    quiet: true,
    successText: `${deviceName(device)} unenrolled`,
    onDone: () =>
      roomId === undefined
        ? navigate({ to: '/devices' })
        : navigate({ to: '/rooms/$roomId', params: { roomId: String(roomId) } }),
  })
  const items = useItemsOf(device)
  const others = pair.others.map(deviceName).join(', ')
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Unenrol ${deviceName(device)}?`}
      verb="Unenrol"
      mutation={unenrol}
      onConfirm={() => unenrol.mutate({ input: { id: device.id, ...(items > 0 && { items: true }) }, ifMatch: etag })}
    >
      <Text fz="sm">
        {roomId !== undefined && (
          <>
            The device is removed from <RoomName roomId={roomId} roomName={device.roomName} />.{' '}
          </>
        )}
        This cannot be undone:
      </Text>
      <ul className={classes.list}>
        <li>The device is disconnected, and its credential stops working.</li>
        <li>Its settings and their history are deleted. Pending operations are cancelled.</li>
        {device.via === undefined ? (
          <li>To use the device again, enrol it with a room code. It will be listed as a new device.</li>
        ) : device.sourceType !== undefined ? (
          <li>
            It stays on the list of its source as excluded, until you take it back there. Nothing is changed at the
            source.
          </li>
        ) : (
          <li>It stays on the list of its gateway. “Try again” there enrols it again, as a new device.</li>
        )}
        {items > 0 && (
          <li>
            This gateway manages {plural(items, 'device')}. They go offline, and their addresses and passwords are
            deleted.
          </li>
        )}
        {pair.others.length > 0 && (
          <li>
            {others} {pair.others.length === 1 ? 'is' : 'are'} paired with this device and{' '}
            {pair.others.length === 1 ? 'stays' : 'stay'} enrolled.
          </li>
        )}
      </ul>
    </ConfirmDialog>
  )
}

/** The number of devices on the list of a gateway, which go with it. [contract 13.rooms] */
function useItemsOf({ id, kind }: DeviceDetails): number {
  const { data } = useQuery({ ...operationQuery('gatewaysList'), enabled: kind === 'GATEWAY' })
  const gateway = data?.body.gateways.find((one) => one.id === id)
  return gateway ? itemCount(gateway) : 0
}
