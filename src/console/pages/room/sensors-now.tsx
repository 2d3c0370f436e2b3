// What is measured in a room now: only by sensors that its devices have, with what is out of bounds marked.
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Sensor } from '../../../contract/models.ts'
import { airOutliers, type Outlier, outlierText, sensorLabels, sensorNumberText } from '../../domain/air/air.ts'
import type { RoomDetails } from '../../domain/room/room.ts'
import { WarnIcon } from '../../parts/page/icons.tsx'
import { ErrorPanel, Section } from '../../parts/page/page.tsx'
import { useNow } from '../../parts/text/now.ts'
import { StatusLabel } from '../../parts/text/status-label.tsx'
import { ageText, Timestamp } from '../../parts/text/time.tsx'
import { useSession } from '../../session.ts'
import { isReal, sensorsIn } from './measured.ts'
import classes from './room.module.css'
import { askSample } from './sample-query.ts'

interface SensorsNowProps {
  readonly room: RoomDetails
  readonly zone: string
}

export function SensorsNow({ room, zone }: SensorsNowProps) {
  const { airLimits } = useSession()
  const { data: sample, error, refetch } = useQuery(askSample(room.id))
  const { sensors, connectedSensors, hasShutter } = sensorsIn(room.endpoints)
  if (sensors.length === 0) return null
  if (!sample) {
    return (
      <Section title="Now">
        {sample === undefined && error && <ErrorPanel error={error} onRetry={() => void refetch()} />}
        <Text c="dimmed" role="status">
          {sample === null && silence(room)}
        </Text>
      </Section>
    )
  }
  const outliers = airOutliers(sample, airLimits)
  return (
    <Section title="Now" actions={<Age at={Number(sample.timestamp) * 1000} zone={zone} />}>
      <dl className={classes.tiles}>
        {sensors.map((sensor) => (
          <Tile key={sensor} name={sensorLabels[sensor].name}>
            {isReal(sensor, sample[sensor], connectedSensors) ? (
              <Measured
                sensor={sensor}
                value={sample[sensor]}
                outlier={outliers.find((one) => one.sensor === sensor)}
              />
            ) : (
              <Text span c="dimmed" fz="sm">
                Not measured now
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

const silence = ({ state }: RoomDetails) =>
  state === 'OFFLINE'
    ? 'Nothing is measured while the devices are offline.'
    : 'Nothing was measured in the last minutes. The history below shows what was before.'

const Tile = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <Text component="dt" fz="sm" c="dimmed">
      {name}
    </Text>
    <dd>{children}</dd>
  </div>
)

interface MeasuredProps {
  readonly sensor: Sensor
  readonly value: number
  readonly outlier: Outlier | undefined
}

const Measured = ({ sensor, value, outlier }: MeasuredProps) => (
  <>
    <span className={classes.value}>{sensorNumberText(sensor, value)}</span>{' '}
    <Text span fz="sm" c="dimmed">
      {sensorLabels[sensor].unit}
    </Text>
    {outlier && (
      <div>
        <StatusLabel colour="var(--rk-degraded)" icon={<WarnIcon size={14} />}>
          {outlierText(outlier)}
        </StatusLabel>
      </div>
    )}
  </>
)

/** What is older than this says so; a room's sample of more than 15 minutes is not given at all. */
const oldAfter = 10 * 60_000

function Age({ at, zone }: { readonly at: number; readonly zone: string }) {
  const now = useNow(5000)
  const age = now - at
  const isOld = age > oldAfter
  return (
    <Text span fz="sm" c={isOld ? 'var(--rk-degraded)' : 'dimmed'}>
      {isOld ? 'Old: measured' : 'Measured'} {age < 5000 ? 'just now' : `${ageText(at, now)} ago`},{' '}
      <Timestamp at={at} zone={zone} />
    </Text>
  )
}
