// The table that a run prints: one line for each row, with its peers below it and notes at the end.
import type { Figure, Peer, Row, WallClock } from '../measure/figures.ts'

export const formatNumber = (value: number): string =>
  Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)

/** The median, with the smallest and the largest round in brackets. */
function formatFigure({ median, min, max, rounds }: Figure): string {
  return rounds > 1 ? `${formatNumber(median)} (${formatNumber(min)}–${formatNumber(max)})` : formatNumber(median)
}

const header = ['operation', 'ours', 'baseline', 'ratio', 'goal', 'met', 'p50 and p99 by the wall clock, ms']

const formatClock = ({ p50Ms, p99Ms }: WallClock) => `${formatNumber(p50Ms.median)} and ${formatNumber(p99Ms.median)}`

function rowCells({ title, unit, ours, baseline, ratio, goal, clock }: Row): string[] {
  return [
    `${title}, ${unit}`,
    formatFigure(ours),
    baseline ? `${formatFigure(baseline.figure)} ${baseline.name}` : '',
    ratio ? formatFigure(ratio) : '',
    goal?.text ?? '',
    goal ? (goal.isMet ? 'yes' : 'NO') : '',
    clock ? formatClock(clock.ours) + (clock.baseline ? `; baseline ${formatClock(clock.baseline)}` : '') : '',
  ]
}

const peerCells = ({ name, figure, ratio, clock }: Peer): string[] => [
  `  peer: ${name}`,
  formatFigure(figure),
  '',
  formatFigure(ratio),
  '',
  '',
  clock ? formatClock(clock) : '',
]

export function terminalTable(rows: readonly Row[]): string {
  const cells = [header, ...rows.flatMap((row) => [rowCells(row), ...(row.peers ?? []).map(peerCells)])]
  const widths = header.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const lines = cells.map((line) =>
    line
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const notes = rows.flatMap(({ title, note }) => (note ? [`${title}: ${note}`] : []))
  return [...lines, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')
}
