// Shows one device of a room as a line: what it is, its state, what is wrong with it, and its firmware.

import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { modelOf } from '../../../contract/device/models.ts'
import { capitalised, humanize, oneLine } from '../../../contract/words.ts'
import { ConnectionLabel } from '../../domain/fleet/device/connection-label.tsx'
import { callText, type DeviceDetails, deviceName, powerNames } from '../../domain/fleet/device/device.ts'
import { KindIcon, kindName, kindOf } from '../../domain/fleet/device/device-kind.tsx'
import { DeviceNote } from '../../domain/fleet/device/device-note.tsx'
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
  const { id, serial, model, state, hasGateway, connected, inCallStatus, firmwareVersion = '', power } = device
  const call = callText(inCallStatus)
  const { name: modelName, manufacturer: maker = device.manufacturer } = modelOf(model)
  const isHere = connected && restartingSinceMs === undefined
  const described = [kindName(kindOf(device)), oneLine(maker), oneLine(modelName)].filter(Boolean).join(' · ')
  return (
    <li className={classes.line} data-follower={isFollower || undefined}>
      <span className={classes.device}>
        <KindIcon kind={kindOf(device)} />
        <span className={classes.names}>
          <Text component="span" fz="sm" className={classes.name}>
            <Link to="/devices/$endpointId" params={{ endpointId: id }}>
              {deviceName(device)}
            </Link>
          </Text>
          <Text component="span" fz="xs" c="dimmed" className={classes.described}>
            {described} · <span className={classes.serial}>{serial}</span>
          </Text>
        </span>
      </span>
      <span className={classes.marks}>
        <span className={classes.state}>
          <ConnectionLabel state={state} hasGateway={hasGateway} restartingSinceMs={restartingSinceMs} />
          {restartingSinceMs === undefined && <AwaySince device={device} zone={zone} />}
        </span>
        {isHere && power && (
          <Text span fz="sm">
            {power === 'ON' || power === 'OFF' ? `Power ${power.toLowerCase()}` : powerNames[power]}
          </Text>
        )}
        {isHere && call && (
          <Text span fz="sm">
            {capitalised(call)}
          </Text>
        )}
        {isHere && <ReportedProblems device={device} />}
        {hasRejectedSettings && <StatusLabel tone="warning">Settings rejected</StatusLabel>}
      </span>
      {firmwareVersion !== '' && (
        <Text span fz="sm" c="dimmed" className={classes.firmware} title={oneLine(firmwareVersion)}>
          {oneLine(firmwareVersion)}
        </Text>
      )}
      <span className={classes.action}>{action}</span>
      <DeviceNote device={device} />
    </li>
  )
}

/** "since 19:04" of a device that is offline or asleep. */
function AwaySince({ device: { state, since }, zone }: Pick<DeviceLineProps, 'device' | 'zone'>) {
  if (state !== 'OFFLINE' && state !== 'ASLEEP') return null
  return (
    <Text span fz="sm" c="dimmed">
      {' '}
      {since === undefined ? (
        'Never connected'
      ) : (
        <>
          since <DateTime at={since} zone={zone} />
        </>
      )}
    </Text>
  )
}

/** The faults above the level INFO, and the peripherals that the device misses. */
function ReportedProblems({ device: { faults = [], peripherals = [] } }: Pick<DeviceLineProps, 'device'>) {
  const problems = [
    ...faults
      .filter(({ level }) => level !== 'INFO')
      .map((fault) => ({ ...fault, text: oneLine(fault.text) || fault.code })),
    ...peripherals
      .filter((peripheral) => !peripheral.connected)
      .map(({ name, kind }) => ({ level: 'WARNING' as const, text: `${oneLine(name) || humanize(kind)} is missing` })),
  ]
  const worst = problems.find(({ level }) => level === 'CRITICAL') ?? problems[0]
  if (!worst) return null
  return (
    <StatusLabel tone={worst.level === 'CRITICAL' ? 'critical' : 'warning'}>
      {worst.text}
      {problems.length > 1 && ` (and ${String(problems.length - 1)} more)`}
    </StatusLabel>
  )
}
