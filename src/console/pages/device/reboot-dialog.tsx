// Asks before a reboot, and names everything that will reboot, room by room. [contract 4.endpointsReboot]
import { Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { errorMessage, useWrite } from '../../api.ts'
import { callText, type DeviceDetails, deviceName, type ListedDevice } from '../../domain/device/device.ts'
import type { PairGroup } from '../../domain/device/pair-group.ts'
import { RoomName } from '../../domain/site/room-link.tsx'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import classes from '../../parts/dialog/dialog.module.css'
import { plural } from '../../parts/text/words.ts'

export interface DialogProps {
  readonly device: DeviceDetails
  readonly pair: PairGroup
  readonly opened: boolean
  readonly onClose: () => void
}

export function RebootDialog({ device, pair, opened, onClose }: DialogProps) {
  const reboot = useWrite('endpointsReboot', {
    quiet: true,
    successText: ({ operations }) => {
      const skipped = operations.filter(({ state }) => state === 'SKIPPED').length
      const told = `${plural(operations.length - skipped, 'device')} told to reboot.`
      return skipped === 0 ? told : `${told} ${plural(skipped, 'offline device')} skipped.`
    },
    onDone: onClose,
  })
  const rebooting = pair.members?.filter(({ connected }) => connected).length ?? 0
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={device.connected ? `Reboot ${deviceName(device)}?` : `${deviceName(device)} cannot be rebooted`}
      verb={rebooting > 1 ? `Reboot ${plural(rebooting, 'device')}` : 'Reboot'}
      blocked={!device.connected || pair.members === undefined}
      mutation={reboot}
      onConfirm={() => reboot.mutate({ input: { id: device.id } })}
    >
      {device.connected ? <WhatReboots pair={pair} /> : <WhyNot device={device} pair={pair} close={onClose} />}
    </ConfirmDialog>
  )
}

function WhatReboots({ pair: { members, error } }: { readonly pair: PairGroup }) {
  if (!members) {
    return <Text fz="sm">{error ? errorMessage(error) : 'Finding out what is paired with it…'}</Text>
  }
  return (
    <Stack gap="sm">
      <Text fz="sm">
        {members.length > 1
          ? 'Paired devices reboot together. They are away for a minute or two, and calls on them end.'
          : 'It is away for a minute or two, and a call on it ends.'}
      </Text>
      {byRoom(members).map(({ roomId, devices }) => (
        <div key={roomId ?? 0}>
          <Text fz="sm" fw={600}>
            {roomId === undefined ? 'In no room' : <RoomName roomId={roomId} roomName={devices[0]?.roomName} />}
          </Text>
          <ul className={classes.list}>
            {devices.map((one) => (
              <li key={one.id}>
                {deviceName(one)} <Fate device={one} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </Stack>
  )
}

/** Rooms one after the other, each with its devices; those without a room last. */
function byRoom(devices: readonly ListedDevice[]): { roomId: number | undefined; devices: ListedDevice[] }[] {
  const rooms = Map.groupBy(devices, (one) => one.roomId)
  return [...rooms]
    .map(([roomId, inRoom]) => ({ roomId, devices: inRoom }))
    .sort((a, b) => Number(a.roomId === undefined) - Number(b.roomId === undefined))
}

function Fate({ device: { connected, inCallStatus } }: { readonly device: ListedDevice }) {
  const call = callText(inCallStatus)
  if (!connected) {
    return (
      <Text span fz="sm" c="dimmed">
        is offline and will be skipped
      </Text>
    )
  }
  if (!call) return 'will reboot'
  return (
    <Text span fz="sm" c="var(--rk-degraded)" fw={550}>
      will reboot; it is {call} now
    </Text>
  )
}

function WhyNot({
  device,
  pair,
  close,
}: {
  readonly device: DeviceDetails
  readonly pair: PairGroup
  readonly close: () => void
}) {
  const reachable = pair.others.filter(({ connected }) => connected)
  return (
    <Stack gap="sm" fz="sm">
      <Text fz="sm">
        It is offline, so nobody can tell it to reboot. Check its power and its network cable, or switch it off and on
        where it stands.
      </Text>
      {reachable.length > 0 && (
        <div>
          <Text fz="sm">
            {reachable.length === 1 ? 'A device that is' : 'Devices that are'} paired with {deviceName(device)} can be
            rebooted from {reachable.length === 1 ? 'its' : 'their'} own page:
          </Text>
          <ul className={classes.list}>
            {reachable.map((one) => (
              <li key={one.id}>
                <Link to="/devices/$endpointId" params={{ endpointId: one.id }} onClick={close}>
                  {deviceName(one)}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Stack>
  )
}
