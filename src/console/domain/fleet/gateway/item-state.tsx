// The state of a gateway's device in words, with the reason that the gateway gave.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type GatewayDeviceState, gatewayDeviceStates } from '../../../../contract/fleet/gateways.ts'
import { oneLine } from '../../../../contract/words.ts'
import { CheckIcon, ClockIcon, CrossIcon, LockIcon, WarnIcon } from '../../../parts/page/icons.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import classes from './gateway.module.css'
import type { GatewayItem } from './gateway.ts'

interface StateStyle {
  readonly name: string
  readonly colour: string
  readonly icon: ReactNode
}

const styles: Readonly<Record<GatewayDeviceState, StateStyle>> = {
  NEW: { name: 'Waiting for the gateway', colour: 'var(--rk-empty)', icon: <ClockIcon size={16} /> },
  CONNECTED: { name: 'Connected', colour: 'var(--rk-healthy)', icon: <CheckIcon size={16} /> },
  UNREACHABLE: { name: 'Cannot be reached', colour: 'var(--rk-offline)', icon: <CrossIcon size={16} /> },
  REFUSED: { name: 'Password refused', colour: 'var(--rk-offline)', icon: <LockIcon size={16} /> },
  CHANGED: { name: 'Another certificate or device', colour: 'var(--rk-offline)', icon: <WarnIcon size={16} /> },
  UNSUPPORTED: { name: 'Not supported', colour: 'var(--rk-degraded)', icon: <WarnIcon size={16} /> },
  DUPLICATE: { name: 'Already enrolled elsewhere', colour: 'var(--rk-degraded)', icon: <WarnIcon size={16} /> },
  REMOVED: { name: 'Removed', colour: 'var(--rk-empty)', icon: <CrossIcon size={16} /> },
}

export const itemStateName = (state: GatewayDeviceState): string => styles[state].name

export const itemStateChoices = gatewayDeviceStates.map((value) => ({ value, label: itemStateName(value) }))

export const ItemStateLabel = ({ state }: { readonly state: GatewayDeviceState }) => (
  <StatusLabel colour={styles[state].colour} icon={styles[state].icon}>
    {styles[state].name}
  </StatusLabel>
)

interface ItemStateProps {
  readonly item: Pick<GatewayItem, 'state' | 'reason' | 'duplicateOf'>
  /** In a row of a table, where a long reason is cut. */
  readonly isInRow?: boolean
}

export const ItemState = ({ item: { state, reason, duplicateOf }, isInRow = false }: ItemStateProps) => (
  <div>
    <ItemStateLabel state={state} />
    {(reason !== undefined || duplicateOf !== undefined) && (
      <Text
        fz="xs"
        c="dimmed"
        fw={400}
        className={classes.reason ?? ''}
        data-in-row={isInRow || undefined}
        title={reason}
      >
        {reason !== undefined && oneLine(reason)}{' '}
        {duplicateOf !== undefined && (
          <Link to="/devices/$endpointId" params={{ endpointId: duplicateOf }}>
            View the enrolled device
          </Link>
        )}
      </Text>
    )}
  </div>
)
