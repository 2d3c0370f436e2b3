// The chart of one sensor: drawn by uPlot, said in words to those who cannot see it.
import 'uplot/dist/uPlot.min.css'
import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useEffectEvent, useRef } from 'react'
import uPlot from 'uplot'
import type { Sensor } from '../../../contract/models.ts'
import type { Limits } from '../../../contract/session.ts'
import type { ChartLines } from './buckets.ts'
import classes from './chart.module.css'
import { plotOptions, type TimeRange } from './plot-options.ts'
import { sensorScales, yRange } from './y-range.ts'

interface SensorChartProps {
  readonly sensor: Sensor
  /** What a reader of the screen is told. */
  readonly label: string
  readonly lines: ChartLines
  readonly range: TimeRange
  readonly limits: Limits
  readonly height: number
  readonly syncKey: string
  readonly onZoom: (range: TimeRange | undefined) => void
  readonly onPoint: (index: number | null) => void
}

export function SensorChart(props: SensorChartProps) {
  const { sensor, label, lines, range, limits, height, syncKey } = props
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const scheme = useComputedColorScheme('light')
  const zoom = useEffectEvent(props.onZoom)
  const point = useEffectEvent(props.onPoint)

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read while drawing, so another scheme is another chart
  useEffect(() => {
    const element = box.current
    if (!element) return undefined
    const options = plotOptions({
      width: element.clientWidth,
      height,
      syncKey,
      limits,
      yRange: (least, largest) => yRange(least, largest, sensorScales[sensor], limits),
      onZoom: (chosen) => zoom(chosen),
      onReset: () => zoom(undefined),
      onPoint: (index) => point(index),
    })
    const drawn = new uPlot(options, undefined, element)
    plot.current = drawn
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) drawn.setSize({ width: element.clientWidth, height })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      drawn.destroy()
      plot.current = undefined
    }
  }, [sensor, limits, height, syncKey, scheme])

  // biome-ignore lint/correctness/useExhaustiveDependencies: a chart that was made anew needs its lines too
  useEffect(() => {
    const drawn = plot.current
    drawn?.batch(() => {
      drawn.setData(lines, false)
      drawn.setScale('x', range)
    })
  }, [lines, range, sensor, limits, height, syncKey, scheme])

  return <div ref={box} role="img" aria-label={label} className={classes.plot} style={{ height }} />
}
