// The table that a person reads.
import type { Clock, Figure, Line, Peer } from '../measure/figures.ts'

export const number = (value: number): string =>
  Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)

/** The median, and in brackets from where to where the rounds went. */
function told({ median, min, max, rounds }: Figure): string {
  return rounds > 1 ? `${number(median)} (${number(min)}–${number(max)})` : number(median)
}

const head = ['what', 'ours', 'limit beside it', 'ratio', 'goal', 'met?', 'p50 and p99 by the clock, ms']

const clockText = ({ p50, p99 }: Clock) => `${number(p50.median)} and ${number(p99.median)}`

function cells({ what, unit, ours, limit, ratio, goal, clock }: Line): string[] {
  return [
    `${what}, ${unit}`,
    told(ours),
    limit ? `${told(limit.figure)} ${limit.name}` : '',
    ratio ? told(ratio) : '',
    goal?.text ?? 'shown',
    goal ? (goal.isMet ? 'yes' : 'NO') : '',
    clock ? clockText(clock.ours) + (clock.limit ? `; limit ${clockText(clock.limit)}` : '') : '',
  ]
}

const peerCells = ({ name, figure, ratio, clock }: Peer): string[] => [
  `  instead: ${name}`,
  told(figure),
  '',
  told(ratio),
  '',
  '',
  clock ? clockText(clock) : '',
]

export function table(lines: readonly Line[]): string {
  const rows = [head, ...lines.flatMap((line) => [cells(line), ...(line.peers ?? []).map(peerCells)])]
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const text = rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const notes = lines.flatMap(({ what, note }) => (note ? [`${what}: ${note}`] : []))
  return [...text, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')
}
