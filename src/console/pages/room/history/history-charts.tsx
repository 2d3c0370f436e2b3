// Draws a chart for each sensor of a room, with synchronised cursors; one chart can be expanded.
import { Button, Group, Text, Title } from '@mantine/core'
import { Fragment, useMemo, useState } from 'react'
import type { Sensor } from '../../../../contract/device/models.ts'
import { sensorLabels, sensorNumberText, sensorValueText } from '../../../../contract/device/sensor-texts.ts'
import type { AirLimit, AirLimits } from '../../../../contract/journal/orgs.ts'
import { airSensors, limitText } from '../../../domain/sensors/air.ts'
import { chartLines, type SensorSummary, summaryOf } from '../../../parts/chart/buckets.ts'
import type { TimeRange } from '../../../parts/chart/plot-options.ts'
import { SensorChart } from '../../../parts/chart/sensor-chart.tsx'
import { zonedTime } from '../../../parts/text/time.tsx'
import { useSession } from '../../../session.ts'
import classes from '../room.module.css'
import type { RoomHistory } from './history-query.ts'

interface ChartProps {
  readonly roomId: number
  readonly data: RoomHistory
  readonly range: TimeRange
  readonly onZoom: (range: TimeRange | undefined) => void
  readonly onExpand: (sensor: Sensor | undefined) => void
}

interface HistoryChartsProps extends ChartProps {
  readonly sensors: readonly Sensor[]
  /** The address names the sensor whose chart is expanded. */
  readonly chosen: string | undefined
  readonly roomName: string
  /** A second room, on the same scales. */
  readonly beside: { readonly name: string; readonly data: RoomHistory } | undefined
}

export function HistoryCharts({ sensors, chosen, roomName, beside, ...chartProps }: HistoryChartsProps) {
  const expanded = sensors.find((sensor) => sensor === chosen)
  const panelsOf = (sensor: Sensor, isExpanded: boolean) => (
    <Fragment key={sensor}>
      <ChartPanel
        {...{ sensor, isExpanded }}
        {...chartProps}
        {...(beside && { ofRoom: roomName, other: beside.data })}
      />
      {beside && (
        <ChartPanel
          {...{ sensor, isExpanded }}
          {...chartProps}
          data={beside.data}
          ofRoom={beside.name}
          other={chartProps.data}
        />
      )}
    </Fragment>
  )
  if (expanded) return panelsOf(expanded, true)
  const isLong = chartProps.data.period.span !== 'day'
  return (
    <div className={classes.charts} data-long={isLong || undefined}>
      {sensors.map((sensor) => panelsOf(sensor, false))}
    </div>
  )
}

const noLimits: AirLimit = {}
const isAir = (sensor: Sensor): sensor is keyof AirLimits => (airSensors as readonly Sensor[]).includes(sensor)

interface ChartPanelProps extends ChartProps {
  readonly sensor: Sensor
  readonly isExpanded: boolean
  /** The name of the room, if there are charts of two. */
  readonly ofRoom?: string
  readonly other?: RoomHistory
}

function ChartPanel({ sensor, isExpanded, ofRoom, other, roomId, data, range, onZoom, onExpand }: ChartPanelProps) {
  const { stepSeconds, zone, phrase } = data.period
  const { airLimits } = useSession()
  const [cursorIndex, setCursorIndex] = useState<number | null>(null)
  const lines = useMemo(
    () => chartLines(data.buckets, sensor, { ...data, stepSeconds, zone }),
    [data, sensor, stepSeconds, zone],
  )
  const summary = useMemo(() => summaryOf(data.buckets, sensor), [data, sensor])
  const otherSummary = useMemo(() => other && summaryOf(other.buckets, sensor), [other, sensor])
  const name = ofRoom === undefined ? sensorLabels[sensor].name : `${sensorLabels[sensor].name}, ${ofRoom}`
  return (
    <div>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Title order={3} fz="sm">
          {name}
        </Title>
        <Button
          variant="subtle"
          size="compact-xs"
          aria-label={isExpanded ? undefined : `Expand ${name}`}
          onClick={() => onExpand(isExpanded ? undefined : sensor)}
        >
          {isExpanded ? 'Show all' : 'Expand'}
        </Button>
      </Group>
      <div className={classes.readout}>
        {cursorIndex === null || !lines[0][cursorIndex] ? (
          summary &&
          `Latest ${sensorValueText(sensor, summary.latest)} · min ${sensorNumberText(sensor, summary.least)} · max ${sensorNumberText(sensor, summary.largest)}`
        ) : (
          <CursorReadout
            sensor={sensor}
            atSeconds={lines[0][cursorIndex]}
            min={lines[2][cursorIndex]}
            max={lines[1][cursorIndex]}
            mean={lines[3][cursorIndex]}
            zone={zone}
          />
        )}
      </div>
      <SensorChart
        sensor={sensor}
        label={chartLabel(name, sensor, phrase, summary, airLimits)}
        alsoOnScale={otherSummary}
        lines={lines}
        range={range}
        limits={isAir(sensor) ? airLimits[sensor] : noLimits}
        height={isExpanded ? 340 : 150}
        syncKey={`room ${roomId}`}
        zone={zone}
        onZoom={onZoom}
        onPoint={setCursorIndex}
      />
    </div>
  )
}

/** Describes a chart to screen readers. */
function chartLabel(
  name: string,
  sensor: Sensor,
  phrase: string,
  summary: SensorSummary | undefined,
  airLimits: AirLimits,
): string {
  const text = (value: number) => sensorValueText(sensor, value)
  const limits = isAir(sensor) ? limitText(sensor, airLimits) : undefined
  return [
    `${name} in ${phrase}`,
    summary
      ? `minimum ${text(summary.least)}, maximum ${text(summary.largest)}, latest ${text(summary.latest)}`
      : 'no data',
    ...(limits ? [`outside limits ${limits}`] : []),
  ].join('; ')
}

interface CursorReadoutProps {
  readonly sensor: Sensor
  readonly atSeconds: number
  readonly min: number | null | undefined
  readonly max: number | null | undefined
  readonly mean: number | null | undefined
  readonly zone: string
}

function CursorReadout({ sensor, atSeconds, min, max, mean, zone }: CursorReadoutProps) {
  return (
    <>
      {mean == null || min == null || max == null ? (
        'No data'
      ) : (
        <>
          <Text span fz="xs" fw={600} c="var(--mantine-color-text)">
            {sensorValueText(sensor, mean)}
          </Text>
          {min !== max && ` · min ${sensorNumberText(sensor, min)} · max ${sensorNumberText(sensor, max)}`}
        </>
      )}
      {` · ${zonedTime(atSeconds * 1000, zone)}`}
    </>
  )
}
