// The chart of one sensor, drawn by uPlot, with a text label for screen readers.
import 'uplot/dist/uPlot.min.css'
import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useEffectEvent, useRef } from 'react'
import uPlot from 'uplot'
import type { Sensor } from '../../../contract/device/models.ts'
import type { AirLimit } from '../../../contract/journal/orgs.ts'
import type { ChartLines, SensorSummary } from './buckets.ts'
import classes from './chart.module.css'
import { plotOptions, type TimeRange } from './plot-options.ts'
import { sensorScales, yRange } from './y-range.ts'

interface SensorChartProps {
  readonly sensor: Sensor
  /** The label for screen readers. */
  readonly label: string
  readonly lines: ChartLines
  readonly range: TimeRange
  readonly limits: AirLimit
  /** Values of another chart on the same scale. */
  readonly alsoOnScale?: SensorSummary | undefined
  readonly height: number
  readonly syncKey: string
  readonly zone: string
  readonly onZoom: (range: TimeRange | undefined) => void
  readonly onPoint: (index: number | null) => void
}

export function SensorChart(props: SensorChartProps) {
  const { sensor, label, lines, range, limits, alsoOnScale, height, syncKey, zone } = props
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const scheme = useComputedColorScheme('light')
  const zoom = useEffectEvent(props.onZoom)
  const point = useEffectEvent(props.onPoint)

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read when the chart is created, so a change of the colour scheme needs a new chart
  useEffect(() => {
    const element = box.current
    if (!element) return undefined
    const options = plotOptions({
      width: element.clientWidth,
      height,
      syncKey,
      zone,
      limits,
      colour: sensor === 'people' ? '--rk-people' : '--rk-air',
      isCount: sensorScales[sensor].isCount ?? false,
      yRange: (least, largest) =>
        yRange(
          alsoOnScale ? Math.min(alsoOnScale.least, least ?? alsoOnScale.least) : least,
          alsoOnScale ? Math.max(alsoOnScale.largest, largest ?? alsoOnScale.largest) : largest,
          sensorScales[sensor],
          limits,
        ),
      onZoom: (chosen) => zoom(chosen),
      onReset: () => zoom(undefined),
      onPoint: (index) => point(index),
    })
    const chart = new uPlot(options, undefined, element)
    plot.current = chart
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) chart.setSize({ width: element.clientWidth, height })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      chart.destroy()
      plot.current = undefined
    }
  }, [sensor, limits, alsoOnScale, height, syncKey, zone, scheme])

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new chart needs its data too
  useEffect(() => {
    const chart = plot.current
    chart?.batch(() => {
      chart.setData(lines, false)
      chart.setScale('x', range)
    })
  }, [lines, range, sensor, limits, alsoOnScale, height, syncKey, zone, scheme])

  return <div ref={box} role="img" aria-label={label} className={classes.plot} style={{ height }} />
}
