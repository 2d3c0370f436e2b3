// The uPlot options of a sensor chart: the mean as a line or as steps, minimum to maximum as a band, limits as dashed lines, working hours
// shaded, and a mark for now.
import uPlot from 'uplot'
import type { AirLimit } from '../../../contract/journal/orgs.ts'
import { workingHoursIn } from '../text/zoned-time.ts'
import { timeLabels } from './time-labels.ts'

export interface TimeRange {
  /** Unix seconds. */
  readonly min: number
  readonly max: number
}

interface PlotSettings {
  readonly width: number
  readonly height: number
  /** Charts with the same key share their cursor. */
  readonly syncKey: string
  /** The time zone of the axis. */
  readonly zone: string
  readonly limits: AirLimit
  /** The name of a colour of the theme. */
  readonly colour: string
  /** Whole numbers, drawn as steps. */
  readonly isCount: boolean
  readonly yRange: (least: number | null, largest: number | null) => [number, number]
  /** Called when the user selects a range with the pointer. */
  readonly onZoom: (range: TimeRange) => void
  readonly onReset: () => void
  /** Called with the index of the point under the cursor, or null when the cursor leaves the chart. */
  readonly onPoint: (index: number | null) => void
}

/** Indexes of the series. */
const [largest, least, mean] = [1, 2, 3]
const minDragPixels = 8
/** The word above the end of the line. */
const nowTextPx = 16
const wholeSteps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
const noSelection = { left: 0, top: 0, width: 0, height: 0 }
const number = new Intl.NumberFormat('en-GB')

/** Reads a colour of the theme; it differs between light and dark mode. */
const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

export function plotOptions(settings: PlotSettings): uPlot.Options {
  const line = colour(settings.colour)
  const text = colour('--mantine-color-dimmed')
  const grid = colour('--rk-line')
  const axis = { stroke: text, font: '12px Inter, system-ui, sans-serif', ticks: { show: false }, gap: 6 }
  const paths = settings.isCount ? uPlot.paths.stepped?.({ align: 1 }) : undefined
  const shape = paths ? { paths } : {}
  const edge: uPlot.Series = { width: 0, stroke: line, points: { show: false }, ...shape }
  return {
    width: settings.width,
    height: settings.height,
    padding: [nowTextPx, 16, 0, 0],
    legend: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), settings.zone),
    scales: {
      x: { time: true, auto: false },
      y: { range: (_, low, high) => settings.yRange(low, high) },
    },
    axes: [
      {
        ...axis,
        size: 26,
        space: 64,
        grid: { show: false },
        values: (_, splits, __, ___, step) => timeLabels(splits, step, settings.zone),
      },
      {
        ...axis,
        size: 48,
        space: 32,
        grid: { stroke: grid, width: 1 },
        ...(settings.isCount && { incrs: wholeSteps }),
        values: (_, splits) => splits.map((value) => number.format(value)),
      },
    ],
    series: [
      {},
      edge,
      edge,
      {
        ...{ width: 1.5, stroke: line, points: { show: false, filter: isolatedPoints, size: 4, fill: line } },
        // An area says how much, which only a scale from zero can.
        ...(settings.isCount && { fill: `${line}26`, ...shape }),
      },
    ],
    bands: [{ series: [largest, least], fill: `${line}33` }],
    cursor: {
      sync: { key: settings.syncKey, setSeries: false },
      drag: { setScale: false, x: true, y: false, dist: minDragPixels },
      points: { size: (_, series) => (series === mean ? 8 : 0), width: 0, fill: line },
      bind: {
        dblclick: () => () => {
          settings.onReset()
          return null
        },
      },
    },
    hooks: {
      setSelect: [(plot) => select(plot, settings.onZoom)],
      setCursor: [(plot) => settings.onPoint(plot.cursor.idx ?? null)],
      drawClear: [(plot) => shadeWorkingHours(plot, settings.zone)],
      draw: [(plot) => drawLimits(plot, settings.limits), drawNow],
    },
  }
}

function select(plot: uPlot, onZoom: (range: TimeRange) => void): void {
  const { left, width } = plot.select
  plot.setSelect(noSelection, false)
  if (width >= minDragPixels) onZoom({ min: plot.posToVal(left, 'x'), max: plot.posToVal(left + width, 'x') })
}

/** A value between two gaps has no line, so it is drawn as a point. */
function isolatedPoints(plot: uPlot, series: number): number[] | null {
  const values = plot.data[series] ?? []
  const alone: number[] = []
  for (let i = 0; i < values.length; i++) {
    if (values[i] != null && values[i - 1] == null && values[i + 1] == null) alone.push(i)
  }
  return alone.length > 0 ? alone : null
}

function shadeWorkingHours(plot: uPlot, zone: string): void {
  const { ctx, bbox } = plot
  const { min, max } = plot.scales.x ?? {}
  if (min == null || max == null) return
  ctx.save()
  ctx.fillStyle = colour('--rk-working-hours')
  for (const { fromMs, toMs } of workingHoursIn(min * 1000, max * 1000, zone)) {
    const [from, to] = [Math.max(fromMs / 1000, min), Math.min(toMs / 1000, max)]
    if (to <= from) continue
    const left = plot.valToPos(from, 'x', true)
    ctx.fillRect(left, bbox.top, plot.valToPos(to, 'x', true) - left, bbox.height)
  }
  ctx.restore()
}

function drawLimits(plot: uPlot, { min, max }: AirLimit): void {
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  ctx.save()
  ctx.strokeStyle = colour('--rk-degraded')
  ctx.lineWidth = ratio
  ctx.setLineDash([5 * ratio, 4 * ratio])
  for (const limit of [min, max]) {
    if (limit === undefined) continue
    const y = Math.round(plot.valToPos(limit, 'y', true))
    if (y < bbox.top || y > bbox.top + bbox.height) continue
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(bbox.left + bbox.width, y)
    ctx.stroke()
  }
  ctx.restore()
}

/** Data are read every minute or so, and the end of the axis is the time of the read. */
const maxReadAgeSeconds = 120

/** The line ends at now, unless a part of the past is shown. */
function drawNow(plot: uPlot): void {
  const { ctx, bbox } = plot
  const { max } = plot.scales.x ?? {}
  if (max == null || Date.now() / 1000 - max > maxReadAgeSeconds) return
  const ratio = devicePixelRatio
  const x = plot.valToPos(Math.min(max, Date.now() / 1000), 'x', true)
  ctx.save()
  ctx.strokeStyle = colour('--mantine-color-dimmed')
  ctx.fillStyle = colour('--mantine-color-dimmed')
  ctx.lineWidth = ratio
  ctx.beginPath()
  ctx.moveTo(x, bbox.top)
  ctx.lineTo(x, bbox.top + bbox.height)
  ctx.stroke()
  ctx.font = `${11 * ratio}px Inter, system-ui, sans-serif`
  ctx.textAlign = 'center'
  ctx.fillText('now', x, bbox.top - 4 * ratio)
  ctx.restore()
}
