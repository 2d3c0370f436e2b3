// The table of goals in the README, made of the stored results.
import type { Figure, Row } from '../measure/figures.ts'
import { formatNumber } from './terminal-table.ts'

/** The stored result of one bench. */
export interface BenchResult {
  readonly at: string
  readonly node: string
  readonly machine: { readonly processor: string; readonly cores: number; readonly memoryGiB: number }
  readonly rows: readonly Row[]
}
export type Results = Readonly<Record<string, BenchResult>>

const [beginMarker, endMarker] = ['<!-- measured: written by npm run bench -->', '<!-- measured: end -->'] as const

/** Lists every row that has a goal, then the notes of these rows, then the machine and the date. */
export function goalTable(results: Results): string {
  const rows = Object.entries(results).flatMap(([bench, { rows }]) =>
    rows.filter(({ goal }) => goal).map((row) => ({ bench, row })),
  )
  const notes = rows.flatMap(({ bench, row: { title, note } }) => (note ? [`- ${bench}, ${title}: ${note}`] : []))
  const machines = Object.values(results).map(
    ({ machine: { processor, cores, memoryGiB }, node, at }) =>
      `${processor}, ${cores} cores, ${memoryGiB} GiB, Node ${node.slice(1)}, ${at.slice(0, 10)}`,
  )
  return [
    '| bench | operation | ours | baseline | ratio | goal | met |\n|---|---|---|---|---|---|---|',
    ...rows.map(({ bench, row }) => tableLine(bench, row)),
    ...(notes.length > 0 ? ['', ...notes] : []),
    '',
    `Measured on: ${[...new Set(machines)].join('; ')}. Brackets hold the smallest and the largest round.`,
  ].join('\n')
}

function tableLine(bench: string, { title, unit, ours, baseline, ratio, goal }: Row): string {
  const cells = [
    bench,
    `${title}, ${unit}`,
    ratio ? formatNumber(ours.median) : formatSpread(ours),
    baseline ? `${formatNumber(baseline.figure.median)} ${baseline.name}` : '',
    ratio ? formatSpread(ratio) : '',
    goal?.text ?? '',
    goal ? (goal.isMet ? 'yes' : '**no**') : '',
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

const formatSpread = ({ median, min, max, rounds }: Figure) =>
  rounds > 1 ? `${formatNumber(median)} (${formatNumber(min)} to ${formatNumber(max)})` : formatNumber(median)

/** Returns the text between the markers. */
export function readSection(document: string): string {
  const [from, to] = findSection(document)
  return document.slice(from, to).trim()
}

/** Returns the document with another text between the markers. */
export function replaceSection(document: string, text: string): string {
  const [from, to] = findSection(document)
  return `${document.slice(0, from)}\n\n${text}\n\n${document.slice(to)}`
}

function findSection(document: string): [from: number, to: number] {
  const [from, to] = [document.indexOf(beginMarker), document.indexOf(endMarker)]
  if (from === -1 || to < from) throw new Error(`The document has no section between ${beginMarker} and ${endMarker}.`)
  return [from + beginMarker.length, to]
}
