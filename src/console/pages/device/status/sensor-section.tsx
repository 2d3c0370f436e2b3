// Shows the latest readings of the sensors that a device has; nothing for a device that does not measure.
import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ApiError } from '../../../../client/client.ts'
import { modelOf, sensorsOf } from '../../../../contract/device/models.ts'
import { allSensors } from '../../../../contract/device/sensor-texts.ts'
import { operationQuery } from '../../../api.ts'
import { type DeviceDetails, useDeviceTimeZone } from '../../../domain/fleet/device/device.ts'
import { airOutliers } from '../../../domain/sensors/air.ts'
import { ReadingTiles } from '../../../domain/sensors/reading-tiles.tsx'
import { ErrorPanel, Section } from '../../../parts/page/page.tsx'
import { useNow } from '../../../parts/text/now.ts'
import { DateTime } from '../../../parts/text/time.tsx'
import { useSession } from '../../../session.ts'

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
        {/* As high as the readings, which then do not move the page. */}
        <Text fz="sm" c="dimmed" mih={50}>
          {hasNoSample ? 'No sensor data yet' : 'Loading…'}
        </Text>
      </Section>
    )
  }
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
      <ReadingTiles
        sensors={allSensors.filter((sensor) => sensors.includes(sensor))}
        readings={data.body.endpointData}
        sample={sample}
        peopleIs={device.peopleIs}
        outliers={airOutliers(sample, airLimits)}
        isShutterClosed={shutter ? data.body.endpointData.shutterClosed === true : undefined}
      />
    </Section>
  )
}
