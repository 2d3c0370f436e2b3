// Offers the actions on a device: restart, send a message, switch on or off, silence, move, edit.
import { Button } from '@mantine/core'
import { useState } from 'react'
import { type DeviceDetails, deviceName, hasAction } from '../../domain/fleet/device/device.ts'
import { EditDevice } from '../../domain/fleet/device/edit-device.tsx'
import { MoveDevices } from '../../domain/fleet/device/move-devices.tsx'
import { usePairGroup } from '../../domain/fleet/device/pair-group.ts'
import { SilenceButton } from '../../domain/incidents/silence/silence-button.tsx'
import { EditIcon, MessageIcon, MoveIcon, PowerIcon, RebootIcon } from '../../parts/page/icons.tsx'
import { usePermissions } from '../../session.ts'
import { MessageDialog } from './message-dialog.tsx'
import { PowerDialog } from './power-dialog.tsx'
import { RebootDialog } from './reboot-dialog.tsx'

/**
 * A restart, a message, a switch of the power and a silence need Operate; the other actions need Write. What the device cannot do is not
 * offered, and neither is a switch of the power of a device that is asleep.
 */
export function DeviceActions({ device }: { readonly device: DeviceDetails }) {
  const { write } = usePermissions()
  const [openDialog, setOpenDialog] = useState<'reboot' | 'message' | 'move' | 'edit' | 'power on' | 'power off'>()
  const pair = usePairGroup(device)
  const close = () => setOpenDialog(undefined)
  const canSwitch = hasAction(device, 'power') && device.state !== 'ASLEEP'
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
      {canSwitch && device.power !== 'ON' && (
        <Button variant="default" leftSection={<PowerIcon />} onClick={() => setOpenDialog('power on')}>
          Switch on
        </Button>
      )}
      {canSwitch && device.power !== 'OFF' && device.power !== 'STANDBY' && (
        <Button variant="default" leftSection={<PowerIcon />} onClick={() => setOpenDialog('power off')}>
          Switch off
        </Button>
      )}
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
      <PowerDialog device={device} on opened={openDialog === 'power on'} onClose={close} />
      <PowerDialog device={device} on={false} opened={openDialog === 'power off'} onClose={close} />
      <MoveDevices device={device} opened={openDialog === 'move'} onClose={close} />
    </>
  )
}
