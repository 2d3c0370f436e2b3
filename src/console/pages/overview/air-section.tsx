// Counts the rooms whose air is outside the limits, by sensor, and names the worst of them.
import { Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { sensorLabels, sensorValueText } from '../../../contract/device/sensor-texts.ts'
import type { RoomTableData, RoomTableRow } from '../../domain/fleet/room/room-rows.ts'
import { type AirSensor, airSensors, distanceBeyondLimit, isMeasured, limitText } from '../../domain/sensors/air.ts'
import { ErrorPanel, Section } from '../../parts/page/page.tsx'
import { plural } from '../../parts/text/words.ts'
import { useSession } from '../../session.ts'
import classes from './overview.module.css'

interface AirSectionProps {
  readonly rows: readonly RoomTableRow[]
  readonly air: RoomTableData['air']
  readonly error: unknown
}

export function AirSection({ rows, air, error }: AirSectionProps) {
  const summaries = useMemo(() => airSensors.map((sensor) => summariseSensor(sensor, rows)), [rows])
  return (
    <Section title="Air quality">
      {air === 'failed' && <ErrorPanel error={error} />}
      {air === 'loading' && (
        <Text c="dimmed" role="status">
          Loading sensor data…
        </Text>
      )}
      {air === 'loaded' && (
        <ul className={classes.list}>
          {summaries.map((summary) => (
            <SensorItem key={summary.sensor} {...summary} />
          ))}
        </ul>
      )}
    </Section>
  )
}

interface SensorSummary {
  readonly sensor: AirSensor
  /** This many rooms have a current reading of the sensor. */
  readonly measured: number
  /** These rooms are outside the limits; the worst comes first. */
  readonly outside: readonly { readonly row: RoomTableRow; readonly value: number; readonly excess: number }[]
}

function summariseSensor(sensor: AirSensor, rows: readonly RoomTableRow[]): SensorSummary {
  const current = rows.filter(({ freshness }) => freshness.isNow)
  const outside = current.flatMap((row) =>
    row.outliers
      .filter((outlier) => outlier.sensor === sensor)
      .map((outlier) => ({ row, value: outlier.value, excess: distanceBeyondLimit(outlier) })),
  )
  return {
    sensor,
    measured: current.filter(({ sample }) => sample && isMeasured(sample[sensor])).length,
    outside: outside.sort((a, b) => b.excess - a.excess || a.row.id - b.row.id),
  }
}

const maxRoomsNamed = 3

function SensorItem({ sensor, measured, outside }: SensorSummary) {
  const { airLimits } = useSession()
  const limit = limitText(sensor, airLimits)
  if (limit === undefined) return null
  return (
    <li className={classes.sensor}>
      <Title order={3} fz="sm" fw={600}>
        {sensorLabels[sensor].name}{' '}
        <Text span fz="sm" c="dimmed" fw={400}>
          {limit}
        </Text>
      </Title>
      {outside.length > 0 ? (
        <Link to="/rooms" search={{ air: sensor, sort: `-${sensor}` }} className={classes.outside}>
          {plural(outside.length, 'room')}
        </Link>
      ) : (
        <Text span fz="sm" c="dimmed">
          {measured === 0 ? (
            'No readings'
          ) : (
            <>
              OK in{' '}
              <Link to="/rooms" search={{ sort: `-${sensor}` }}>
                {plural(measured, 'room')}
              </Link>
            </>
          )}
        </Text>
      )}
      {outside.length > 0 && (
        <ul className={classes.worstRooms}>
          {outside.slice(0, maxRoomsNamed).map(({ row, value }) => (
            <li key={row.id} className={classes.worstRoom}>
              <Link to="/rooms/$roomId" params={{ roomId: String(row.id) }} title={row.name}>
                {row.name}
              </Link>
              <Text span fz="sm" c="dimmed" className={classes.location} title={row.location?.name}>
                {row.location?.name}
              </Text>
              <span className={classes.value}>{sensorValueText(sensor, value)}</span>
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}
