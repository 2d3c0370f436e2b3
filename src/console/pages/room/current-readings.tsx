// Shows the latest readings of a room with their age, for the sensors that its devices have; values outside the limits are marked.
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { freshnessOf, maxAgeOfNowMs } from '../../domain/fleet/room/freshness.ts'
import type { RoomDetails } from '../../domain/fleet/room/room.ts'
import { airOutliers } from '../../domain/sensors/air.ts'
import { ReadingTiles } from '../../domain/sensors/reading-tiles.tsx'
import { ErrorPanel, Section } from '../../parts/page/page.tsx'
import { useNow } from '../../parts/text/now.ts'
import { ageText, DateTime } from '../../parts/text/time.tsx'
import { useSession } from '../../session.ts'
import { roomSensors } from './room-sensors.ts'
import { sampleQuery } from './sample-query.ts'

interface CurrentReadingsProps {
  readonly room: RoomDetails
  readonly zone: string
  /** A device of the room is being restarted. */
  readonly isRestarting: boolean
}

export function CurrentReadings({ room, zone, isRestarting }: CurrentReadingsProps) {
  const { airLimits } = useSession()
  const { data, error, refetch } = useQuery(sampleQuery(room.id))
  const sample = data?.data[0]
  const { sensors, hasShutter } = roomSensors(room.endpoints)
  const { isNow: isFresh } = freshnessOf(sample ? Number(sample.timestamp) * 1000 : undefined, useNow())
  const isNow = isFresh && room.endpoints.some(({ connected }) => connected)
  if (sensors.length === 0) return null
  if (!data || !sample) {
    return (
      <Section title="Current readings">
        {data === undefined && error && <ErrorPanel error={error} onRetry={() => void refetch()} />}
        <Text c="dimmed" role="status">
          {data === null && noReadingsText(room, isRestarting)}
        </Text>
      </Section>
    )
  }
  return (
    <Section
      title={isNow ? 'Current readings' : 'Last readings'}
      actions={<ReadingAge at={Number(sample.timestamp) * 1000} zone={zone} />}
    >
      <ReadingTiles
        sensors={sensors}
        readings={data}
        sample={sample}
        peopleIs={data.peopleIs}
        outliers={airOutliers(sample, airLimits)}
        isShutterClosed={hasShutter ? sample.ShutterClosed : undefined}
      />
    </Section>
  )
}

function noReadingsText({ state }: RoomDetails, isRestarting: boolean): string {
  if (isRestarting) return 'No readings while devices restart.'
  return state === 'OFFLINE' ? 'No readings: all devices are offline.' : 'No recent readings. See the history below.'
}

function ReadingAge({ at, zone }: { readonly at: number; readonly zone: string }) {
  const now = useNow(5000)
  const ageMs = now - at
  const isStale = ageMs >= maxAgeOfNowMs
  return (
    <Text span fz="sm" c={isStale ? 'var(--rk-degraded)' : 'dimmed'}>
      {isStale ? 'Measured' : 'Updated'} {ageMs < 5000 ? 'just now' : `${ageText(at, now)} ago`},{' '}
      <DateTime at={at} zone={zone} />
    </Text>
  )
}
