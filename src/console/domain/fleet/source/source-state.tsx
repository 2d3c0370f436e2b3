// The state of a source in words, with the reason that its gateway gave.
import { Text } from '@mantine/core'
import type { Source, SourceState } from '../../../../contract/fleet/sources.ts'
import { oneLine } from '../../../../contract/words.ts'
import { ClockIcon, LockIcon, OfflineIcon } from '../../../parts/page/icons.tsx'
import { StateBadge, type StateLook } from '../../../parts/text/status-label.tsx'
import { DateTime } from '../../../parts/text/time.tsx'

const styles: Readonly<Record<SourceState, StateLook>> = {
  NEW: { label: 'Waiting for the gateway', tone: 'quiet', icon: <ClockIcon size={16} /> },
  CONNECTED: { label: 'Connected', tone: 'calm' },
  UNREACHABLE: { label: 'Cannot be reached', tone: 'danger', icon: <OfflineIcon size={16} /> },
  REFUSED: { label: 'Sign-in refused', tone: 'danger', icon: <LockIcon size={16} /> },
  CHANGED: { label: 'Another certificate', tone: 'danger' },
  FAILING: { label: 'Wrong answers', tone: 'danger' },
  UNSUPPORTED: { label: 'Not supported', tone: 'warning' },
}

export const sourceStateName = (state: SourceState): string => styles[state].label

export const SourceStateLabel = ({ state }: { readonly state: SourceState }) => <StateBadge look={styles[state]} />

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
