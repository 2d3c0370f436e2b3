// Offers the actions on a device: restart, send a message, silence, move.
import { Button } from '@mantine/core'
import { useState } from 'react'
import { type DeviceDetails, deviceName, hasAction } from '../../domain/fleet/device/device.ts'
import { MoveDevices } from '../../domain/fleet/device/move-devices.tsx'
import { usePairGroup } from '../../domain/fleet/device/pair-group.ts'
import { SilenceButton } from '../../domain/incidents/silence/silence-button.tsx'
import { MessageIcon, MoveIcon, RebootIcon } from '../../parts/page/icons.tsx'
import { usePermissions } from '../../session.ts'
import { MessageDialog } from './message-dialog.tsx'
import { RebootDialog } from './reboot-dialog.tsx'

/** A restart, a message and a silence need Operate; a move needs Write. What the device cannot do is not offered. */
export function DeviceActions({ device }: { readonly device: DeviceDetails }) {
  const { write } = usePermissions()
  const [openDialog, setOpenDialog] = useState<'reboot' | 'message' | 'move'>()
  const pair = usePairGroup(device)
  const close = () => setOpenDialog(undefined)
  return (
    <>
      {hasAction(device, 'reboot') && (
        <Button variant="default" leftSection={<RebootIcon />} onClick={() => setOpenDialog('reboot')}>
          Restart
        </Button>
      )}
      {hasAction(device, 'message') && (
        <Button variant="default" leftSection={<MessageIcon />} onClick={() => setOpenDialog('message')}>
          Send message
        </Button>
      )}
      <SilenceButton place={{ endpointId: device.id }} name={deviceName(device)} />
      {write && (
        <Button variant="default" leftSection={<MoveIcon />} onClick={() => setOpenDialog('move')}>
          Move to room
        </Button>
      )}
      <RebootDialog device={device} pair={pair} opened={openDialog === 'reboot'} onClose={close} />
      <MessageDialog device={device} pair={pair} opened={openDialog === 'message'} onClose={close} />
      <MoveDevices device={device} opened={openDialog === 'move'} onClose={close} />
    </>
  )
}
