// A chart for each sensor of a room; one of them can be enlarged. Their cursors move together.
import { Button, Group, Text, Title } from '@mantine/core'
import { useMemo, useState } from 'react'
import type { Sensor } from '../../../contract/models.ts'
import type { AirLimits, Limits } from '../../../contract/session.ts'
import { airSensors, limitText, sensorLabels, sensorNumberText, sensorValueText } from '../../domain/air/air.ts'
import { chartLines, type SensorSummary, summaryOf } from '../../parts/chart/buckets.ts'
import type { TimeRange } from '../../parts/chart/plot-options.ts'
import { SensorChart } from '../../parts/chart/sensor-chart.tsx'
import { clockInZone, shortTime } from '../../parts/text/time.tsx'
import { useSession } from '../../session.ts'
import { type History, type SpanName, spans } from './history-query.ts'
import classes from './room.module.css'

interface ShownProps {
  readonly roomId: number
  readonly data: History
  readonly range: TimeRange
  readonly onZoom: (range: TimeRange | undefined) => void
  readonly onEnlarge: (sensor: Sensor | undefined) => void
  readonly zone: string
}

interface HistoryChartsProps extends ShownProps {
  readonly sensors: readonly Sensor[]
  /** The one to enlarge, as the address says. */
  readonly chosen: string | undefined
}

export function HistoryCharts({ sensors, chosen, ...shown }: HistoryChartsProps) {
  const large = sensors.find((sensor) => sensor === chosen)
  if (large) return <ChartOf sensor={large} isLarge {...shown} />
  return (
    <div className={classes.charts}>
      {sensors.map((sensor) => (
        <ChartOf key={sensor} sensor={sensor} {...shown} />
      ))}
    </div>
  )
}

const noLimits: Limits = {}
const isAir = (sensor: Sensor): sensor is keyof AirLimits => (airSensors as readonly Sensor[]).includes(sensor)

interface ChartOfProps extends ShownProps {
  readonly sensor: Sensor
  readonly isLarge?: boolean
}

function ChartOf({ sensor, isLarge = false, roomId, data, range, onZoom, onEnlarge, zone }: ChartOfProps) {
  const { airLimits } = useSession()
  const [at, setAt] = useState<number | null>(null)
  const lines = useMemo(
    () => chartLines(data.buckets, sensor, { ...data, stepSeconds: spans[data.span].step }),
    [data, sensor],
  )
  const summary = useMemo(() => summaryOf(data.buckets, sensor), [data, sensor])
  const { name } = sensorLabels[sensor]
  return (
    <div>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Title order={3} fz="sm">
          {name}
        </Title>
        <Button
          variant="subtle"
          size="compact-xs"
          aria-label={isLarge ? undefined : `Enlarge ${name}`}
          onClick={() => onEnlarge(isLarge ? undefined : sensor)}
        >
          {isLarge ? 'All sensors' : 'Enlarge'}
        </Button>
      </Group>
      <div className={classes.readout}>
        {at === null || !lines[0][at] ? (
          summary &&
          `Latest ${sensorValueText(sensor, summary.latest)}, ${sensorNumberText(sensor, summary.least)} to ${sensorNumberText(sensor, summary.largest)}`
        ) : (
          <PointText
            sensor={sensor}
            at={lines[0][at]}
            least={lines[2][at]}
            largest={lines[1][at]}
            mean={lines[3][at]}
            zone={zone}
          />
        )}
      </div>
      <SensorChart
        sensor={sensor}
        label={labelOf(sensor, data.span, summary, airLimits)}
        lines={lines}
        range={range}
        limits={isAir(sensor) ? airLimits[sensor] : noLimits}
        height={isLarge ? 340 : 150}
        syncKey={`room ${roomId}`}
        onZoom={onZoom}
        onPoint={setAt}
      />
    </div>
  )
}

/** What a chart shows, for those who cannot see it. */
function labelOf(sensor: Sensor, span: SpanName, summary: SensorSummary | undefined, airLimits: AirLimits): string {
  const text = (value: number) => sensorValueText(sensor, value)
  const limits = isAir(sensor) ? limitText(sensor, airLimits) : undefined
  return [
    `${sensorLabels[sensor].name} in the last ${span}`,
    summary
      ? `least ${text(summary.least)}, largest ${text(summary.largest)}, latest ${text(summary.latest)}`
      : 'nothing was measured',
    ...(limits ? [`out of bounds ${limits}`] : []),
  ].join('; ')
}

interface PointTextProps {
  readonly sensor: Sensor
  /** Unix seconds. */
  readonly at: number
  readonly least: number | null | undefined
  readonly largest: number | null | undefined
  readonly mean: number | null | undefined
  readonly zone: string
}

function PointText({ sensor, at, least, largest, mean, zone }: PointTextProps) {
  const elsewhere = clockInZone(at * 1000, zone)
  return (
    <>
      {mean == null || least == null || largest == null ? (
        'Nothing measured'
      ) : (
        <>
          <Text span fz="xs" fw={650} c="var(--mantine-color-text)">
            {sensorValueText(sensor, mean)}
          </Text>
          {least !== largest && `, ${sensorNumberText(sensor, least)} to ${sensorNumberText(sensor, largest)}`}
        </>
      )}
      {` · ${shortTime(at * 1000)}`}
      {elsewhere && ` (${elsewhere})`}
    </>
  )
}
