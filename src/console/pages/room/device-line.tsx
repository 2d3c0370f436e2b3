// Shows one device of a room as a line: connection, call, settings and firmware.

import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { capitalised } from '../../../contract/words.ts'
import { ConnectionLabel } from '../../domain/fleet/device/connection-label.tsx'
import { callText, type DeviceDetails, deviceName } from '../../domain/fleet/device/device.ts'
import { DeviceNote } from '../../domain/fleet/device/device-note.tsx'
import { WarnIcon } from '../../parts/page/icons.tsx'
import { StatusLabel } from '../../parts/text/status-label.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import classes from './room.module.css'

interface DeviceLineProps {
  readonly device: DeviceDetails
  readonly hasRejectedSettings: boolean
  readonly restartingSinceMs: number | undefined
  readonly zone: string
  readonly isFollower: boolean
  readonly action: ReactNode
}

export function DeviceLine({
  device,
  hasRejectedSettings,
  restartingSinceMs,
  zone,
  isFollower,
  action,
}: DeviceLineProps) {
  const { id, serial, state, since, connected, inCallStatus, firmwareVersion } = device
  const call = callText(inCallStatus)
  return (
    <li className={classes.line} data-follower={isFollower || undefined}>
      <Text component="span" fz="sm" className={classes.name}>
        <Link to="/devices/$endpointId" params={{ endpointId: id }}>
          {deviceName(device)}
        </Link>{' '}
        <span className={classes.serial}>{serial}</span>
      </Text>
      <span className={classes.marks}>
        <ConnectionLabel state={state} restartingSinceMs={restartingSinceMs} />
        {state === 'OFFLINE' && restartingSinceMs === undefined && (
          <Text span fz="xs" c="dimmed">
            {since ? (
              <>
                since <DateTime at={since} zone={zone} />
              </>
            ) : (
              'Never connected'
            )}
          </Text>
        )}
        {connected && restartingSinceMs === undefined && call && (
          <Text span fz="sm">
            {capitalised(call)}
          </Text>
        )}
        {hasRejectedSettings && (
          <StatusLabel colour="var(--rk-degraded)" icon={<WarnIcon size={16} />}>
            Settings rejected
          </StatusLabel>
        )}
      </span>
      <Text span fz="sm" c="dimmed" className={classes.firmware} title={firmwareVersion}>
        {firmwareVersion}
      </Text>
      <span className={classes.action}>{action}</span>
      <DeviceNote device={device} />
    </li>
  )
}
