// Shows whether the page updates live, and since when it does not.
import { Group, Text, Tooltip } from '@mantine/core'
import { useLiveState } from '../parts/live/live-state.ts'
import { shortTime } from '../parts/text/time.tsx'

export function LiveIndicator() {
  const { state, sinceMs } = useLiveState()
  const isLive = state === 'live'
  const colour = isLive ? 'var(--rk-healthy)' : state === 'lost' ? 'var(--rk-offline)' : 'var(--rk-degraded)'
  const label = isLive ? 'Live' : state === 'lost' ? 'Disconnected' : 'Connecting'
  const explanation = isLive
    ? 'Changes appear on this page as they happen.'
    : state === 'lost'
      ? `The connection was lost at ${shortTime(sinceMs)}. This page may be out of date. Reconnecting…`
      : 'Connecting to the server…'
  return (
    <Tooltip label={explanation} multiline maw={280}>
      <Group gap={6} px={6} wrap="nowrap" role="status" aria-label={`${label}. ${explanation}`}>
        <svg width="10" height="10" aria-hidden="true">
          <circle cx="5" cy="5" r="4" fill={isLive ? colour : 'none'} stroke={colour} strokeWidth="2" />
        </svg>
        <Text fz="sm" c={colour} fw={500} {...(isLive && { visibleFrom: 'sm' })}>
          {label}
        </Text>
      </Group>
    </Tooltip>
  )
}
