// What the sensors of a device say now; only those that its model has.
import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ApiError } from '../../../client/client.ts'
import { modelOf, type Sensor } from '../../../contract/models.ts'
import { operationQuery } from '../../api.ts'
import {
  airOutliers,
  allSensors,
  isMeasured,
  outlierText,
  sensorLabels,
  sensorValueText,
} from '../../domain/air/air.ts'
import { type DeviceDetails, useDeviceTimeZone } from '../../domain/device/device.ts'
import { WarnIcon } from '../../parts/page/icons.tsx'
import { ErrorPanel, Section } from '../../parts/page/page.tsx'
import { useNow } from '../../parts/text/now.ts'
import { Timestamp } from '../../parts/text/time.tsx'
import { useSession } from '../../session.ts'
import classes from './sensor-section.module.css'

/** Nobody there and no light are values; without CO₂ there is only no sensor. [contract 5.2] */
const mayBeZero: readonly Sensor[] = ['people', 'illumination']
/** In seconds: a sample that is older says little about now. [contract 5.2.aggregate] */
const fresh = 15 * 60

export function SensorSection({ device }: { readonly device: DeviceDetails }) {
  const { data, error, refetch } = useQuery(operationQuery('endpointsSensorData', { id: device.id }))
  const zone = useDeviceTimeZone(device)
  const now = useNow()
  const { airLimits } = useSession()
  const hasNone = error instanceof ApiError && error.status === 404
  const sample = data?.body.endpointData.data[0]
  const { sensors, shutter } = modelOf(device.model)
  if (error && !hasNone) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  if (!sample) {
    return (
      <Section title="Sensors">
        <Text fz="sm" c="dimmed">
          {hasNone ? 'No sample has arrived yet. A device sends them while it is connected.' : 'Loading…'}
        </Text>
      </Section>
    )
  }
  const outliers = airOutliers(sample, airLimits)
  const at = Number(sample.timestamp)
  const isOld = now / 1000 - at > fresh
  return (
    <Section
      title="Sensors"
      actions={
        <Group gap="sm" fz="sm" c="dimmed">
          <Text span fz="sm" c={isOld ? 'var(--rk-degraded)' : 'dimmed'}>
            {isOld ? 'Last measured ' : 'Measured '}
            <Timestamp at={at * 1000} zone={zone} />
          </Text>
          {device.roomId !== undefined && (
            <Link to="/rooms/$roomId" params={{ roomId: String(device.roomId) }}>
              History of the room
            </Link>
          )}
        </Group>
      }
    >
      <dl className={classes.values}>
        {allSensors
          .filter((sensor) => sensors.includes(sensor))
          .map((sensor) => {
            const value = sample[sensor]
            const outlier = outliers.find((one) => one.sensor === sensor)
            return (
              <div key={sensor} className={classes.value}>
                <dt>{sensorLabels[sensor].name}</dt>
                <dd>
                  {isMeasured(value) || mayBeZero.includes(sensor) ? sensorValueText(sensor, value) : 'Not measured'}
                  {outlier && (
                    <Text span fz="xs" c="var(--rk-degraded)" className={classes.outlier}>
                      <WarnIcon size={14} />
                      {outlierText(outlier)}
                    </Text>
                  )}
                </dd>
              </div>
            )
          })}
        {shutter && (
          <div className={classes.value}>
            <dt>Privacy shutter</dt>
            <dd>{data.body.endpointData.shutterClosed ? 'Closed' : 'Open'}</dd>
          </div>
        )}
      </dl>
    </Section>
  )
}
