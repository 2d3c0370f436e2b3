// What can be done with a device, for those who may.
import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Device } from '../../domain/device/device.ts'
import { MoveDevices } from '../../domain/device/move-devices.tsx'
import { usePair } from '../../domain/device/pair-group.ts'
import { MessageIcon, MoveIcon, RebootIcon } from '../../parts/page/icons.tsx'
import { MessageDialog } from './message-dialog.tsx'
import { RebootDialog } from './reboot-dialog.tsx'

export function Actions({ device }: { readonly device: Device }) {
  const [asked, setAsked] = useState<'reboot' | 'message' | 'move'>()
  const pair = usePair(device)
  const close = () => setAsked(undefined)
  return (
    <>
      <Button variant="default" leftSection={<RebootIcon />} onClick={() => setAsked('reboot')}>
        Restart
      </Button>
      <Button variant="default" leftSection={<MessageIcon />} onClick={() => setAsked('message')}>
        Send message
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
