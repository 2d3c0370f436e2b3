// Shows the latest readings of the sensors that a device has; nothing for a device that does not measure.
import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ApiError } from '../../../../client/client.ts'
import { modelOf, type Sensor, sensorsOf } from '../../../../contract/device/models.ts'
import { allSensors, sensorLabels, sensorValueText } from '../../../../contract/device/sensor-texts.ts'
import { operationQuery } from '../../../api.ts'
import { type DeviceDetails, useDeviceTimeZone } from '../../../domain/fleet/device/device.ts'
import { airOutliers, outlierText } from '../../../domain/sensors/air.ts'
import { isReading, peopleText } from '../../../domain/sensors/readings.ts'
import { WarnIcon } from '../../../parts/page/icons.tsx'
import { ErrorPanel, Section } from '../../../parts/page/page.tsx'
import { useNow } from '../../../parts/text/now.ts'
import { DateTime } from '../../../parts/text/time.tsx'
import { useSession } from '../../../session.ts'
import classes from './sensor-section.module.css'

/** An older sample is marked as stale. [contract 5.2.aggregate] */
const staleAfterSeconds = 15 * 60

export function SensorSection({ device }: { readonly device: DeviceDetails }) {
  const sensors = sensorsOf(device)
  const { shutter = false } = modelOf(device.model)
  const isMeasuring = sensors.length > 0 || shutter
  const query = { ...operationQuery('endpointsSensorData', { id: device.id }), enabled: isMeasuring }
  const { data, error, refetch } = useQuery(query)
  const zone = useDeviceTimeZone(device)
  const now = useNow()
  const { airLimits } = useSession()
  const hasNoSample = error instanceof ApiError && error.status === 404
  const sample = data?.body.endpointData.data[0]
  if (!isMeasuring) return null
  if (error && !hasNoSample) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  if (!sample) {
    return (
      <Section title="Sensors">
        <Text fz="sm" c="dimmed">
          {hasNoSample ? 'No sensor data yet' : 'Loading…'}
        </Text>
      </Section>
    )
  }
  const outliers = airOutliers(sample, airLimits)
  const textOf = (sensor: Sensor, value: number) =>
    sensor === 'people' ? peopleText(value, device.peopleIs) : sensorValueText(sensor, value)
  const measuredAtSeconds = Number(sample.timestamp)
  const isStale = now / 1000 - measuredAtSeconds > staleAfterSeconds
  return (
    <Section
      title="Sensors"
      actions={
        <Group gap="sm" fz="sm" c="dimmed">
          <Text span fz="sm" c={isStale ? 'var(--rk-degraded)' : 'dimmed'}>
            {isStale ? 'Last reading ' : 'Updated '}
            <DateTime at={measuredAtSeconds * 1000} zone={zone} />
          </Text>
          {device.roomId !== undefined && (
            <Link to="/rooms/$roomId" params={{ roomId: String(device.roomId) }}>
              Room history
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
                  {isReading(sensor, data.body.endpointData) ? textOf(sensor, value) : 'No reading'}
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
