// The table that a person reads.
import type { Figure, Line } from './figures.ts'

const number = (value: number): string =>
  Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)

/** The median, and in brackets from where to where the rounds went. */
function told({ median, min, max, rounds }: Figure): string {
  return rounds > 1 ? `${number(median)} (${number(min)}–${number(max)})` : number(median)
}

const head = ['what', 'ours', 'limit beside it', 'ratio', 'goal', 'met?']

function cells({ what, unit, ours, limit, ratio, goal }: Line): string[] {
  return [
    `${what}, ${unit}`,
    told(ours),
    limit ? `${told(limit.figure)} ${limit.name}` : '',
    ratio ? told(ratio) : '',
    goal?.text ?? 'shown',
    goal ? (goal.isMet ? 'yes' : 'NO') : '',
  ]
}

export function table(lines: readonly Line[]): string {
  const rows = [head, ...lines.map(cells)]
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
