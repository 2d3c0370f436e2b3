// Restarts every device of a room: one request for each pair group, because paired devices restart together. [contract 4.endpointsReboot]
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { placedRoomName } from '../../../contract/fleet/room-name.ts'
import { errorMessage, operationQuery } from '../../api.ts'
import { deviceName, hasAction } from '../../domain/fleet/device/device.ts'
import { groupNamer } from '../../domain/fleet/device/pairing-rule.ts'
import { restartEffectText, useRestartGroups } from '../../domain/fleet/device/restart-groups.ts'
import { RestartOutcome } from '../../domain/fleet/device/restart-outcome.tsx'
import { RestartTime, useRestartTime } from '../../domain/fleet/device/restart-time.tsx'
import type { RoomDetails } from '../../domain/fleet/room/room.ts'
import { useRoomNames } from '../../domain/fleet/room/room-names.ts'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import classes from '../../parts/dialog/dialog.module.css'
import { plural } from '../../parts/text/words.ts'

interface RestartRoomProps {
  readonly room: RoomDetails
  readonly opened: boolean
  readonly onClose: () => void
}

export function RestartRoom({ room, opened, onClose }: RestartRoomProps) {
  const { data, error } = useQuery({ ...operationQuery('endpointsBasicList'), enabled: opened })
  const { devices, groups } = restartPlan(room, data?.body.endpoints ?? [])
  const onlineCount = devices.filter((device) => device.connected && hasAction(device, 'reboot')).length
  const roomNameOf = useRoomNames({ enabled: opened })
  const choice = useRestartTime(devices, {
    isNowPossible: groups.some(([first]) => first?.connected),
    isOpen: opened,
  })
  const isNow = choice.when === 'now'
  const restart = useRestartGroups(onClose, choice.when)
  // The device that is named in a request must be online for a restart now, and is waited for otherwise.
  const named = groups.flatMap(([first]) => (first && (first.connected || !isNow) ? [first.id] : []))
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Restart ${placedRoomName(room.name, room.location?.name)}?`}
      verb={isNow ? `Restart ${plural(onlineCount, 'device')}` : 'Restart later'}
      blocked={data === undefined || choice.isLoading}
      mutation={restart}
      onConfirm={() => restart.mutate(named)}
    >
      <Text fz="sm">
        {!data && (error ? errorMessage(error) : 'Checking paired devices…')}
        {data &&
          (choice.isNowPossible
            ? restartEffectText(devices.length, isNow)
            : 'No device of this room is online, so they can restart only when they are back. Check power and network, or power-cycle the devices on site.')}
        {choice.hasPeople && ' People are in the room.'}
      </Text>
      <ul className={classes.list}>
        {data &&
          devices.map((device) => (
            <li key={device.id}>
              {deviceName(device)}
              {device.roomId !== undefined &&
                device.roomId !== room.id &&
                ` in ${roomNameOf(device.roomId, device.roomName)}`}{' '}
              <RestartOutcome device={device} isAwaited={!isNow && named.includes(device.id)} />
            </li>
          ))}
      </ul>
      {data && <RestartTime {...choice} />}
    </ConfirmDialog>
  )
}

type Device = Parameters<typeof RestartOutcome>[0]['device']

/** The devices of the room and those paired with them; and the devices of the room that can restart, by pair group, those that are online first. */
function restartPlan({ endpoints }: RoomDetails, listed: readonly Device[]) {
  const own = new Set(endpoints.map(({ id }) => id))
  const all: Device[] = [...endpoints, ...listed.filter(({ id }) => !own.has(id))]
  const groupOf = groupNamer(all)
  const groupNames = new Set(endpoints.map(groupOf))
  const devices = all.filter((device) => groupNames.has(groupOf(device)))
  const able = endpoints.filter((device) => hasAction(device, 'reboot'))
  const onlineFirst = able.toSorted((a, b) => Number(b.connected) - Number(a.connected))
  return { devices, groups: [...Map.groupBy(onlineFirst, groupOf).values()] }
}
