// Shows the latest readings of a room with their age, for the sensors that its devices have; values outside the limits are marked.
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Sensor } from '../../../contract/device/models.ts'
import { sensorLabels, sensorNumberText } from '../../../contract/device/sensor-texts.ts'
import { freshnessOf, maxAgeOfNowMs } from '../../domain/fleet/room/freshness.ts'
import type { RoomDetails } from '../../domain/fleet/room/room.ts'
import { airOutliers, type Outlier, outlierText } from '../../domain/sensors/air.ts'
import { isReading, peopleText } from '../../domain/sensors/readings.ts'
import { ErrorPanel, Section } from '../../parts/page/page.tsx'
import { useNow } from '../../parts/text/now.ts'
import { StatusLabel } from '../../parts/text/status-label.tsx'
import { ageText, DateTime } from '../../parts/text/time.tsx'
import { useSession } from '../../session.ts'
import classes from './room.module.css'
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
  const outliers = airOutliers(sample, airLimits)
  return (
    <Section
      title={isNow ? 'Current readings' : 'Last readings'}
      actions={<ReadingAge at={Number(sample.timestamp) * 1000} zone={zone} />}
    >
      <dl className={classes.tiles}>
        {peopleFirst(sensors).map((sensor) => (
          <Tile key={sensor} name={sensorLabels[sensor].name}>
            {isReading(sensor, data) ? (
              <Reading
                sensor={sensor}
                value={sample[sensor]}
                peopleIs={data.peopleIs}
                outlier={outliers.find((one) => one.sensor === sensor)}
              />
            ) : (
              <Text span c="dimmed" fz="sm">
                No reading
              </Text>
            )}
          </Tile>
        ))}
        {hasShutter && (
          <Tile name="Privacy shutter">
            <span className={classes.value}>{sample.ShutterClosed ? 'Closed' : 'Open'}</span>
          </Tile>
        )}
      </dl>
    </Section>
  )
}

/** The number of people is looked for most. */
const peopleFirst = (sensors: readonly Sensor[]): readonly Sensor[] =>
  sensors.toSorted((a, b) => Number(b === 'people') - Number(a === 'people'))

function noReadingsText({ state }: RoomDetails, isRestarting: boolean): string {
  if (isRestarting) return 'No readings while devices restart.'
  return state === 'OFFLINE' ? 'No readings: all devices are offline.' : 'No recent readings. See the history below.'
}

const Tile = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <Text component="dt" fz="sm" c="dimmed">
      {name}
    </Text>
    <dd>{children}</dd>
  </div>
)

interface ReadingProps {
  readonly sensor: Sensor
  readonly value: number
  readonly peopleIs: 'PRESENCE' | undefined
  readonly outlier: Outlier | undefined
}

const Reading = ({ sensor, value, peopleIs, outlier }: ReadingProps) => (
  <>
    <span className={classes.value}>
      {sensor === 'people' ? peopleText(value, peopleIs) : sensorNumberText(sensor, value)}
    </span>{' '}
    <Text span fz="sm" c="dimmed">
      {sensorLabels[sensor].unit}
    </Text>
    {outlier && (
      <div>
        <StatusLabel tone="warning">{outlierText(outlier)}</StatusLabel>
      </div>
    )}
  </>
)

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
