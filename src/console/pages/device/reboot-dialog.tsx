// Confirms a restart, and lists every device that restarts, by room. [contract 4.endpointsReboot]
import { Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { errorMessage, useWrite } from '../../api.ts'
import { callText, deviceName, type ListedDevice } from '../../domain/device/device.ts'
import type { PairGroup } from '../../domain/device/pair-group.ts'
import { RoomName } from '../../domain/site/room-link.tsx'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import classes from '../../parts/dialog/dialog.module.css'
import { plural } from '../../parts/text/words.ts'
import type { PairDialogProps } from './pair-dialog-props.ts'

export function RebootDialog({ device, pair, opened, onClose }: PairDialogProps) {
  const reboot = useWrite('endpointsReboot', {
    quiet: true,
    successText: ({ operations }) => {
      const skipped = operations.filter(({ state }) => state === 'SKIPPED').length
      const text = `Restarting ${plural(operations.length - skipped, 'device')}`
      return skipped === 0 ? text : `${text} (${skipped} offline, skipped)`
    },
    onDone: onClose,
  })
  const onlineCount = pair.members?.filter(({ connected }) => connected).length ?? 0
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={device.connected ? `Restart ${deviceName(device)}?` : `${deviceName(device)} cannot be restarted`}
      verb={onlineCount > 1 ? `Restart ${plural(onlineCount, 'device')}` : 'Restart'}
      blocked={!device.connected || pair.members === undefined}
      mutation={reboot}
      onConfirm={() => reboot.mutate({ input: { id: device.id } })}
    >
      {device.connected ? <RestartPreview pair={pair} /> : <OfflineNotice pair={pair} close={onClose} />}
    </ConfirmDialog>
  )
}

function RestartPreview({ pair: { members, error } }: { readonly pair: PairGroup }) {
  if (!members) {
    return <Text fz="sm">{error ? errorMessage(error) : 'Checking paired devices…'}</Text>
  }
  return (
    <Stack gap="sm">
      <Text fz="sm">
        {members.length > 1
          ? 'Paired devices restart together. They will be offline for 1 to 2 minutes, and active calls will end.'
          : 'The device will be offline for 1 to 2 minutes, and an active call will end.'}
      </Text>
      {groupByRoom(members).map(({ roomId, devices }) => (
        <div key={roomId ?? 0}>
          <Text fz="sm" fw={600}>
            {roomId === undefined ? 'Unassigned' : <RoomName roomId={roomId} roomName={devices[0]?.roomName} />}
          </Text>
          <ul className={classes.list}>
            {devices.map((one) => (
              <li key={one.id}>
                {deviceName(one)} <RestartOutcome device={one} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </Stack>
  )
}

/** Groups devices by room; devices without a room come last. */
function groupByRoom(devices: readonly ListedDevice[]): { roomId: number | undefined; devices: ListedDevice[] }[] {
  const rooms = Map.groupBy(devices, (one) => one.roomId)
  return [...rooms]
    .map(([roomId, inRoom]) => ({ roomId, devices: inRoom }))
    .sort((a, b) => Number(a.roomId === undefined) - Number(b.roomId === undefined))
}

function RestartOutcome({ device: { connected, inCallStatus } }: { readonly device: ListedDevice }) {
  const call = callText(inCallStatus)
  if (!connected) {
    return (
      <Text span fz="sm" c="dimmed">
        is offline and will be skipped
      </Text>
    )
  }
  if (!call) return 'will restart'
  return (
    <Text span fz="sm" c="var(--rk-degraded)" fw={550}>
      will restart (now {call})
    </Text>
  )
}

function OfflineNotice({ pair, close }: { readonly pair: PairGroup; readonly close: () => void }) {
  const reachable = pair.others.filter(({ connected }) => connected)
  return (
    <Stack gap="sm" fz="sm">
      <Text fz="sm">
        The device is offline and cannot be restarted remotely. Check power and network, or power-cycle it on site.
      </Text>
      {reachable.length > 0 && (
        <div>
          <Text fz="sm">Paired devices that are online can be restarted from their own page:</Text>
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
