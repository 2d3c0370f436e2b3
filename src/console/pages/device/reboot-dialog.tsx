// Confirms a restart, and lists every device that restarts, by room. [contract 4.endpointsReboot]
import { Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { errorMessage, useWrite } from '../../api.ts'
import { deviceName, type ListedDevice, predicateOf } from '../../domain/fleet/device/device.ts'
import type { PairGroup } from '../../domain/fleet/device/pair-group.ts'
import { restartEffectText, restartText } from '../../domain/fleet/device/restart-groups.ts'
import { RestartOutcome } from '../../domain/fleet/device/restart-outcome.tsx'
import { type RestartChoice, RestartTime, useRestartTime } from '../../domain/fleet/device/restart-time.tsx'
import { RoomName } from '../../domain/fleet/site/room-link.tsx'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import classes from '../../parts/dialog/dialog.module.css'
import { plural } from '../../parts/text/words.ts'
import type { PairDialogProps } from './pair-dialog-props.ts'

export function RebootDialog({ device, pair, opened, onClose }: PairDialogProps) {
  const choice = useRestartTime(pair.members ?? [device], { isNowPossible: device.connected, isOpen: opened })
  const { when } = choice
  const reboot = useWrite('endpointsReboot', {
    quiet: true,
    successText: ({ operations }) => {
      const skipped = operations.filter(({ state }) => state === 'SKIPPED').length
      const text = restartText(operations.length - skipped, when)
      return skipped === 0 ? text : `${text} (${skipped} skipped)`
    },
    onDone: onClose,
  })
  const onlineCount = pair.members?.filter(({ connected }) => connected).length ?? 0
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Restart ${deviceName(device)}?`}
      verb={when !== 'now' ? 'Restart later' : onlineCount > 1 ? `Restart ${plural(onlineCount, 'device')}` : 'Restart'}
      blocked={pair.members === undefined || choice.isLoading}
      mutation={reboot}
      onConfirm={() => reboot.mutate({ input: { id: device.id, body: { when } } })}
    >
      {!device.connected && <AwayNotice device={device} pair={pair} close={onClose} />}
      <RestartPreview device={device} pair={pair} choice={choice} />
      <RestartTime {...choice} />
    </ConfirmDialog>
  )
}

interface RestartPreviewProps {
  readonly device: PairDialogProps['device']
  readonly pair: PairGroup
  readonly choice: RestartChoice
}

function RestartPreview({ device, pair: { members, error }, choice }: RestartPreviewProps) {
  if (!members) {
    return <Text fz="sm">{error ? errorMessage(error) : 'Checking paired devices…'}</Text>
  }
  const isNow = choice.when === 'now'
  return (
    <Stack gap="sm">
      <Text fz="sm">
        {restartEffectText(members.length, isNow)}
        {choice.hasPeople && ' People are in the room.'}
      </Text>
      {groupByRoom(members).map(({ roomId, devices }) => (
        <div key={roomId ?? 0}>
          <Text fz="sm" fw={600}>
            {roomId === undefined ? 'Unassigned' : <RoomName roomId={roomId} roomName={devices[0]?.roomName} />}
          </Text>
          <ul className={classes.list}>
            {devices.map((one) => (
              <li key={one.id}>
                {deviceName(one)} <RestartOutcome device={one} isAwaited={!isNow && one.id === device.id} />
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

interface AwayNoticeProps {
  readonly device: PairDialogProps['device']
  readonly pair: PairGroup
  readonly close: () => void
}

function AwayNotice({ device, pair, close }: AwayNoticeProps) {
  const reachable = pair.others.filter(({ connected }) => connected)
  return (
    <Stack gap="sm" fz="sm" mb="sm">
      <Text fz="sm">
        The device {predicateOf(device)}, so it can restart only when it is back.
        {device.state === 'OFFLINE' && ' Check power and network, or power-cycle it on site.'}
      </Text>
      {reachable.length > 0 && (
        <div>
          <Text fz="sm">Paired devices that are online can be restarted now from their own page:</Text>
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
