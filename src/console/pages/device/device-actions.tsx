// Offers the actions on a device: restart, send a message, silence, move, edit.
import { Button } from '@mantine/core'
import { useState } from 'react'
import { type DeviceDetails, deviceName } from '../../domain/fleet/device/device.ts'
import { EditDevice } from '../../domain/fleet/device/edit-device.tsx'
import { MoveDevices } from '../../domain/fleet/device/move-devices.tsx'
import { usePairGroup } from '../../domain/fleet/device/pair-group.ts'
import { SilenceButton } from '../../domain/incidents/silence/silence-button.tsx'
import { EditIcon, MessageIcon, MoveIcon, RebootIcon } from '../../parts/page/icons.tsx'
import { usePermissions } from '../../session.ts'
import { MessageDialog } from './message-dialog.tsx'
import { RebootDialog } from './reboot-dialog.tsx'

/** A restart, a message and a silence need Operate; the other actions need Write. */
export function DeviceActions({ device }: { readonly device: DeviceDetails }) {
  const { write } = usePermissions()
  const [openDialog, setOpenDialog] = useState<'reboot' | 'message' | 'move' | 'edit'>()
  const pair = usePairGroup(device)
  const close = () => setOpenDialog(undefined)
  return (
    <>
      <Button variant="default" leftSection={<RebootIcon />} onClick={() => setOpenDialog('reboot')}>
        Restart
      </Button>
      <Button variant="default" leftSection={<MessageIcon />} onClick={() => setOpenDialog('message')}>
        Send message
      </Button>
      <SilenceButton place={{ endpointId: device.id }} name={deviceName(device)} />
      {write && (
        <>
          <Button variant="default" leftSection={<MoveIcon />} onClick={() => setOpenDialog('move')}>
            Move to room
          </Button>
          <Button variant="default" leftSection={<EditIcon />} onClick={() => setOpenDialog('edit')}>
            Edit
          </Button>
        </>
      )}
      <RebootDialog device={device} pair={pair} opened={openDialog === 'reboot'} onClose={close} />
      <MessageDialog device={device} pair={pair} opened={openDialog === 'message'} onClose={close} />
      <EditDevice device={device} opened={openDialog === 'edit'} onClose={close} />
      <MoveDevices device={device} opened={openDialog === 'move'} onClose={close} />
    </>
  )
}
