// What can be done with a device, for those who may.
import { Button } from '@mantine/core'
import { useState } from 'react'
import type { DeviceDetails } from '../../domain/device/device.ts'
import { MoveDevices } from '../../domain/device/move-devices.tsx'
import { usePairGroup } from '../../domain/device/pair-group.ts'
import { MessageIcon, MoveIcon, RebootIcon } from '../../parts/page/icons.tsx'
import { MessageDialog } from './message-dialog.tsx'
import { RebootDialog } from './reboot-dialog.tsx'

export function Actions({ device }: { readonly device: DeviceDetails }) {
  const [asked, setAsked] = useState<'reboot' | 'message' | 'move'>()
  const pair = usePairGroup(device)
  const close = () => setAsked(undefined)
  return (
    <>
      <Button variant="default" leftSection={<RebootIcon />} onClick={() => setAsked('reboot')}>
        Reboot
      </Button>
      <Button variant="default" leftSection={<MessageIcon />} onClick={() => setAsked('message')}>
        Message to screen
      </Button>
      <Button variant="default" leftSection={<MoveIcon />} onClick={() => setAsked('move')}>
        Move to room
      </Button>
      <RebootDialog device={device} pair={pair} opened={asked === 'reboot'} onClose={close} />
      <MessageDialog device={device} pair={pair} opened={asked === 'message'} onClose={close} />
      <MoveDevices device={device} opened={asked === 'move'} onClose={close} />
    </>
  )
}
