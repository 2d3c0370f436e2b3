// The state of a gateway's device in words, with the reason that the gateway gave.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type GatewayDeviceState, gatewayDeviceStates } from '../../../../contract/fleet/gateways.ts'
import { oneLine } from '../../../../contract/words.ts'
import { CancelledIcon, ClockIcon, LockIcon, OfflineIcon } from '../../../parts/page/icons.tsx'
import { StateBadge, type StateLook } from '../../../parts/text/status-label.tsx'
import classes from './gateway.module.css'
import type { GatewayItem } from './gateway.ts'

const styles: Readonly<Record<GatewayDeviceState, StateLook>> = {
  NEW: { label: 'Waiting for the gateway', tone: 'quiet', icon: <ClockIcon size={16} /> },
  CONNECTED: { label: 'Connected', tone: 'calm' },
  UNREACHABLE: { label: 'Cannot be reached', tone: 'danger', icon: <OfflineIcon size={16} /> },
  REFUSED: { label: 'Password refused', tone: 'danger', icon: <LockIcon size={16} /> },
  CHANGED: { label: 'Another certificate or device', tone: 'danger' },
  UNSUPPORTED: { label: 'Not supported', tone: 'warning' },
  DUPLICATE: { label: 'Already enrolled elsewhere', tone: 'warning' },
  REMOVED: { label: 'Removed', tone: 'quiet', icon: <CancelledIcon size={16} /> },
}

export const itemStateName = (state: GatewayDeviceState): string => styles[state].label

export const itemStateChoices = gatewayDeviceStates.map((value) => ({ value, label: itemStateName(value) }))

export const ItemStateLabel = ({ state }: { readonly state: GatewayDeviceState }) => <StateBadge look={styles[state]} />

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
