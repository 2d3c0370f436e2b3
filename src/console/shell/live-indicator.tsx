// Whether what is on the screen is live; when it is not, it says so and since when.
import { Group, Text, Tooltip } from '@mantine/core'
import { useLiveState } from '../live/event-follower.ts'
import { Timestamp } from '../parts/text/time.tsx'

export function LiveIndicator() {
  const { state, since } = useLiveState()
  const isLive = state === 'live'
  const colour = isLive ? 'var(--rk-healthy)' : state === 'lost' ? 'var(--rk-offline)' : 'var(--rk-degraded)'
  const word = isLive ? 'Live' : state === 'lost' ? 'Not live' : 'Connecting'
  const told = isLive
    ? 'Changes show at once.'
    : state === 'lost'
      ? `The stream of events broke off at ${Timestamp(since)}. What you see may be old; it is being connected again.`
      : 'The stream of events is being opened.'
  return (
    <Tooltip label={told} multiline maw={280}>
      <Group gap={6} px={6} wrap="nowrap" role="status" aria-label={`${word}. ${told}`}>
        <svg width="10" height="10" aria-hidden="true">
          <circle cx="5" cy="5" r="4" fill={isLive ? colour : 'none'} stroke={colour} strokeWidth="2" />
        </svg>
        <Text fz="sm" c={colour} fw={550} {...(isLive && { visibleFrom: 'sm' })}>
          {word}
        </Text>
      </Group>
    </Tooltip>
  )
}
