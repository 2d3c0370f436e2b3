// Offers the actions on a device: restart, send a message, move.
import { Button } from '@mantine/core'
import { useState } from 'react'
import type { DeviceDetails } from '../../domain/device/device.ts'
import { MoveDevices } from '../../domain/device/move-devices.tsx'
import { usePairGroup } from '../../domain/device/pair-group.ts'
import { MessageIcon, MoveIcon, RebootIcon } from '../../parts/page/icons.tsx'
import { usePermissions } from '../../session.ts'
import { MessageDialog } from './message-dialog.tsx'
import { RebootDialog } from './reboot-dialog.tsx'

/** A restart and a message need Operate; a move needs Write. */
export function DeviceActions({ device }: { readonly device: DeviceDetails }) {
  const { write } = usePermissions()
  const [openDialog, setOpenDialog] = useState<'reboot' | 'message' | 'move'>()
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
