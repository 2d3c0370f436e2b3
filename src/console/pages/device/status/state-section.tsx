// Shows how a device is: its state in words, faults, power, input, sound, uptime and the readings that no other field has.
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { durationText } from '../../../../contract/duration-text.ts'
import { capitalised, humanize, oneLine } from '../../../../contract/words.ts'
import { operationQuery } from '../../../api.ts'
import { ConnectionLabel } from '../../../domain/fleet/device/connection-label.tsx'
import {
  callText,
  type DeviceDetails,
  deviceName,
  hasAction,
  powerNames,
  useDeviceTimeZone,
} from '../../../domain/fleet/device/device.ts'
import { useRestarts } from '../../../domain/fleet/device/restarts.ts'
import { SeverityLabel } from '../../../domain/incidents/severity-label.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { type Definition, DefinitionList } from '../../../parts/text/definition-list.tsx'
import { useNow } from '../../../parts/text/now.ts'
import { DateTime } from '../../../parts/text/time.tsx'
import classes from './state-section.module.css'

const appNames = { oob: 'Not set up yet', zoom: 'Zoom', msteams: 'Microsoft Teams', avos: 'AVOS', usb: 'USB' } as const
const padModeNames = { controller: 'Controller', schedule: 'Room schedule' } as const

interface DeviceProps {
  readonly device: DeviceDetails
}

export function StateSection({ device }: DeviceProps) {
  const { connected, connectionTime, power, primaryMode, controllerMode, inCallStatus, orientation } = device
  return (
    <Section
      title="State"
      actions={
        !connected &&
        connectionTime !== undefined && (
          <Text span fz="sm" c="dimmed">
            As last reported
          </Text>
        )
      }
    >
      <Faults device={device} />
      <DefinitionList
        definitions={[
          ['State', <StateValue key="state" device={device} />],
          ['Power', power && powerNames[power]],
          // The last reported call of a device that is away is out of date.
          ['Call', connected && inCallStatus && capitalised(callText(inCallStatus) ?? 'not in a call')],
          ...inputDefinitions(device),
          ['Sound', soundText(device)],
          ['App', primaryMode && appNames[primaryMode]],
          ['Pad mode', controllerMode && padModeNames[controllerMode]],
          ['Orientation', orientation && humanize(orientation)],
          device.startedAt !== undefined && connected
            ? ['Uptime', <Uptime key="uptime" device={device} startedAt={device.startedAt} />]
            : ['Last start', device.startedAt && <LastStart key="start" device={device} at={device.startedAt} />],
          ...(device.readings ?? []).map(
            ({ name, value, unit }) => [humanize(name), readingText(value, unit), `reading ${name}`] as const,
          ),
        ]}
      />
    </Section>
  )
}

function StateValue({ device }: DeviceProps) {
  const zone = useDeviceTimeZone(device)
  const restartingSinceMs = useRestarts().get(device.id)
  const { state, since, hasGateway, via } = device
  const label = <ConnectionLabel state={state} hasGateway={hasGateway} restartingSinceMs={restartingSinceMs} />
  if (restartingSinceMs !== undefined) return label
  if (state === 'UNKNOWN') {
    return (
      <>
        {label}
        <Text fz="sm">
          {via !== undefined && <Away via={via} />}
          {via === undefined &&
            (hasGateway
              ? 'Its gateway, which you do not see, is away.'
              : 'Its server ended, and the device has some time to connect again.')}
        </Text>
      </>
    )
  }
  return (
    <>
      {label}{' '}
      {since !== undefined && (
        <>
          since <DateTime at={since} zone={zone} />
        </>
      )}
      {state === 'ASLEEP' && hasAction(device, 'power') && (
        <Text fz="sm">
          It cannot be reached, so it can be switched on from here only when it is back on the network.
        </Text>
      )}
    </>
  )
}

/** Says why nothing is known about a device behind a gateway. */
function Away({ via }: { readonly via: string }) {
  const gateway = useQuery(operationQuery('endpointsGet', { id: via })).data?.body
  const link = (
    <Link to="/devices/$endpointId" params={{ endpointId: via }}>
      {gateway ? deviceName(gateway) : 'a gateway'}
    </Link>
  )
  if (gateway?.connected) return <>Its gateway {link} is back, and has not reported the device yet.</>
  return <>Its gateway {link} is away.</>
}

/** Reported faults with the worst first. Their codes are for support. */
function Faults({ device: { faults = [], connected } }: DeviceProps) {
  if (faults.length === 0) return null
  const ranks = { CRITICAL: 0, WARNING: 1, INFO: 2 } as const
  const sorted = faults.toSorted((a, b) => ranks[a.level] - ranks[b.level])
  return (
    <ul className={classes.faults} aria-label={connected ? 'Faults' : 'Faults, as last reported'}>
      {sorted.map(({ code, level, text }) => (
        <li key={code}>
          <SeverityLabel severity={level} />
          <span className={classes.text}>
            {oneLine(text) || code}{' '}
            {oneLine(text) !== '' && (
              <Text span fz="xs" c="dimmed">
                {code}
              </Text>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** "HDMI 1", and the inputs that are not shown. An empty resolution means that no signal arrives. */
function inputDefinitions({ activeInput = '', inputs = [], inputResolution }: DeviceDetails): Definition[] {
  const shown = oneLine(activeInput)
  const others = inputs.map(oneLine).filter((name) => name !== '' && name !== shown)
  return [
    ['Input', shown],
    [shown === '' ? 'Inputs' : 'Other inputs', others.join(', ')],
    ['Signal', inputResolution === undefined ? undefined : oneLine(inputResolution) || 'No signal'],
  ]
}

function soundText({ volume, muted }: DeviceDetails): string | undefined {
  if (volume === undefined) return muted === undefined ? undefined : muted ? 'Muted' : 'Not muted'
  return `Volume ${String(volume)} %${muted ? ', muted' : ''}`
}

const numbers = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 2 })
const readingText = (value: number, unit: string): string => `${numbers.format(value)} ${unit}`

function Uptime({ device, startedAt }: DeviceProps & { readonly startedAt: string }): ReactNode {
  const now = useNow()
  return (
    <>
      {durationText(now - Date.parse(startedAt))}, since <LastStart device={device} at={startedAt} />
    </>
  )
}

function LastStart({ device, at }: DeviceProps & { readonly at: string }) {
  const zone = useDeviceTimeZone(device)
  return <DateTime at={at} zone={zone} />
}
