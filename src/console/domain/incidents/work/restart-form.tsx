// Restarts the devices of an incident that are connected, each pair group once. [contract 4.endpointsReboot]
import { Button, Group, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import { useBody } from '../../../api.ts'
import classes from '../../../parts/dialog/dialog.module.css'
import { ErrorText } from '../../../parts/page/page.tsx'
import { plural } from '../../../parts/text/words.ts'
import { callText, deviceName, hasAction, type ListedDevice } from '../../fleet/device/device.ts'
import { groupNamer } from '../../fleet/device/pairing-rule.ts'
import { restartEffectText, useRestartGroups } from '../../fleet/device/restart-groups.ts'
import { RestartTime, useRestartTime } from '../../fleet/device/restart-time.tsx'
import { useRoomNames } from '../../fleet/room/room-names.ts'
import type { IncidentDetails } from '../incident.ts'
import type { IncidentFormProps } from './incident-tasks.ts'

/** A larger outage is not solved by restarting everything from one dialog. */
const maxGroups = 20

export function RestartForm({ incident: { id }, onClose }: IncidentFormProps) {
  const { subjects } = useBody('incidentsGet', { id })
  const { endpoints } = useBody('endpointsBasicList')
  const { groups, disconnected } = useMemo(() => restartPlan(subjects, endpoints), [subjects, endpoints])
  const roomNameOf = useRoomNames()
  const connected = groups.flat()
  const choice = useRestartTime(connected, { isNowPossible: true, isOpen: true })
  const isNow = choice.when === 'now'
  const restart = useRestartGroups(onClose, choice.when)
  const requestIds = groups.flatMap(([first]) => (first ? [first.id] : []))
  const isBlocked = connected.length === 0 || groups.length > maxGroups
  return (
    <Stack>
      <Text fz="sm">{introText(groups, disconnected.length, isNow)}</Text>
      {!isBlocked && (
        <ul className={classes.list}>
          {connected.map((device) => (
            <li key={device.id}>
              {deviceName(device)}
              {device.roomId !== undefined && ` in ${roomNameOf(device.roomId, device.roomName)}`}
              {device.inCallStatus && callText(device.inCallStatus) && (
                <Text span fz="sm" c="var(--rk-degraded)" fw={500}>
                  {' '}
                  (now {callText(device.inCallStatus)})
                </Text>
              )}
            </li>
          ))}
        </ul>
      )}
      {!isBlocked && <RestartTime {...choice} />}
      <ErrorText error={restart.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          {isBlocked ? 'Close' : 'Cancel'}
        </Button>
        {!isBlocked && (
          <Button
            color="red.8"
            disabled={choice.isLoading}
            loading={restart.isPending}
            onClick={() => restart.mutate(requestIds)}
          >
            {isNow ? `Restart ${plural(connected.length, 'device')}` : 'Restart later'}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

function introText(groups: readonly ListedDevice[][], disconnectedCount: number, isNow: boolean): string {
  if (groups.length > maxGroups) return 'Too many devices are affected. Restart devices from the pages of their rooms.'
  if (groups.length === 0) {
    return disconnectedCount === 0
      ? 'This incident has no devices that can be restarted remotely.'
      : `${disconnectedCount === 1 ? 'The device is' : 'All devices are'} not connected and cannot be restarted remotely. Check power and network, or power-cycle on site.`
  }
  const skipped =
    disconnectedCount === 0
      ? ''
      : ` ${plural(disconnectedCount, 'device is', 'devices are')} not connected and skipped.`
  return restartEffectText(groups.flat().length, isNow) + skipped
}

/** Returns the connected devices of the subjects by pair group, with all connected members of each group, and the disconnected devices; only devices that can restart. */
function restartPlan(subjects: IncidentDetails['subjects'], endpoints: readonly ListedDevice[]) {
  const open = subjects.filter(({ endedAt }) => endedAt === undefined)
  const endpointIds = new Set(open.filter(({ type }) => type === 'endpoint').map(({ id }) => id))
  const roomIds = new Set(open.filter(({ type }) => type === 'room').map(({ id }) => Number(id)))
  const groupOf = groupNamer(endpoints)
  const able = endpoints.filter((one) => hasAction(one, 'reboot'))
  const affected = able.filter(({ id, roomId }) => endpointIds.has(id) || (roomId !== undefined && roomIds.has(roomId)))
  const groupNames = new Set(affected.filter(({ connected }) => connected).map(groupOf))
  const members = able.filter((one) => one.connected && groupNames.has(groupOf(one)))
  return {
    groups: [...Map.groupBy(members, groupOf).values()],
    disconnected: affected.filter(({ connected }) => !connected),
  }
}
