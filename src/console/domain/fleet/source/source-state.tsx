// The state of a source in words, with the reason that its gateway gave.
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Source, SourceState } from '../../../../contract/fleet/sources.ts'
import { oneLine } from '../../../../contract/words.ts'
import { CheckIcon, ClockIcon, CrossIcon, LockIcon, WarnIcon } from '../../../parts/page/icons.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { DateTime } from '../../../parts/text/time.tsx'

interface StateStyle {
  readonly name: string
  readonly colour: string
  readonly icon: ReactNode
}

const styles: Readonly<Record<SourceState, StateStyle>> = {
  NEW: { name: 'Waiting for the gateway', colour: 'var(--rk-empty)', icon: <ClockIcon size={16} /> },
  CONNECTED: { name: 'Connected', colour: 'var(--rk-healthy)', icon: <CheckIcon size={16} /> },
  UNREACHABLE: { name: 'Cannot be reached', colour: 'var(--rk-offline)', icon: <CrossIcon size={16} /> },
  REFUSED: { name: 'Sign-in refused', colour: 'var(--rk-offline)', icon: <LockIcon size={16} /> },
  CHANGED: { name: 'Another certificate', colour: 'var(--rk-offline)', icon: <WarnIcon size={16} /> },
  FAILING: { name: 'Wrong answers', colour: 'var(--rk-offline)', icon: <WarnIcon size={16} /> },
  UNSUPPORTED: { name: 'Not supported', colour: 'var(--rk-degraded)', icon: <WarnIcon size={16} /> },
}

export const sourceStateName = (state: SourceState): string => styles[state].name

export const SourceStateLabel = ({ state }: { readonly state: SourceState }) => (
  <StatusLabel colour={styles[state].colour} icon={styles[state].icon}>
    {styles[state].name}
  </StatusLabel>
)

/** The state, since when, and why. */
export const SourceStateText = ({ source }: { readonly source: Pick<Source, 'state' | 'since' | 'reason'> }) => (
  <div>
    <SourceStateLabel state={source.state} />
    <Text fz="xs" c="dimmed" fw={400}>
      since <DateTime at={source.since} />
    </Text>
    {source.reason !== undefined && (
      <Text fz="xs" c="dimmed" fw={400} style={{ overflowWrap: 'anywhere' }}>
        {oneLine(source.reason)}
      </Text>
    )}
  </div>
)
