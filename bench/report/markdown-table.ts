// The Markdown tables of the stored results: eight telling rows for the README, and all rows for results/latest.md.
import { benchNames } from '../bench-names.ts'
import type { Figure, Peer, Row } from '../measure/figures.ts'
import { formatNumber } from './terminal-table.ts'

/** The stored result of one bench. */
export interface BenchResult {
  readonly at: string
  /** Absent in results that were stored before commits were. A plus sign says that files differed from it. */
  readonly commit?: string
  readonly node: string
  readonly machine: { readonly processor: string; readonly cores: number; readonly memoryGiB: number }
  readonly rows: readonly Row[]
}
export type Results = Readonly<Record<string, BenchResult>>

interface NamedRow {
  readonly bench: string
  readonly row: Row
}

/** The rows of the README. Each pattern matches one row that has a goal. */
const highlights: readonly (readonly [bench: string, title: RegExp])[] = [
  ['reads', /^endpointsGet, one of/],
  ['lists', /^endpointsBasicList of .*, a room renamed/],
  ['writes', /^regionsCreate, .*, 10 connections$/],
  ['writes', /^regionsCreate, .*, one request at a time$/],
  ['ingest', /^durable QoS 1 sample, \d+ devices$/],
  ['connect', /^connect and subscribe$/],
  ['growth', /^durable QoS 1 sample, 100,000 endpoints$/],
  ['postgres', /^regionsCreate, durable and audited$/],
]

const header = '| bench | operation | ours | baseline | ratio | goal | met |\n|---|---|---|---|---|---|---|'

/** The section of the README: the highlights, the number of goals that are met, and the machine. */
export function summary(results: Results): string {
  const rows = highlights.flatMap(([bench, title]) =>
    (results[bench]?.rows ?? []).filter((row) => row.goal && title.test(row.title)).map((row) => ({ bench, row })),
  )
  return [
    '| operation | ours | baseline | ratio | goal |\n|---|---|---|---|---|',
    ...rows.map(shortLine),
    '',
    `${goalSentence(results)} [bench/results/latest.md](bench/results/latest.md) has all rows, with notes.`,
    machineSentence(results),
  ].join('\n')
}

/** The whole file results/latest.md. */
export function fullReport(results: Results): string {
  const rows = allRows(results)
  return [
    '# Results of the last full run',
    '',
    '`npm run bench` writes this file. [The description of the benches](../README.md) says how each row is measured.',
    'The ratio of a peer is the peer divided by the baseline of the row above it.',
    '',
    header,
    ...rows.flatMap(({ bench, row }) => [
      rowLine({ bench, row }),
      ...(row.peers ?? []).map((peer) => peerLine(bench, peer)),
    ]),
    ...noteLines(rows),
    '',
    goalSentence(results),
    machineSentence(results),
    '',
    ...ageLines(results),
    '',
  ].join('\n')
}

const allRows = (results: Results): NamedRow[] =>
  Object.entries(results).flatMap(([bench, { rows }]) => rows.map((row) => ({ bench, row })))

function rowLine({ bench, row: { title, unit, ours, baseline, ratio, goal } }: NamedRow): string {
  return tableLine([
    bench,
    `${title}, ${unit}`,
    ratio ? formatNumber(ours.median) : formatSpread(ours),
    baseline ? `${formatNumber(baseline.figure.median)} ${baseline.name}` : '',
    ratio ? formatSpread(ratio) : '',
    goal?.text ?? '',
    goal ? (goal.isMet ? 'yes' : '**no**') : '',
  ])
}

function shortLine({ row: { title, unit, ours, baseline, ratio, goal } }: NamedRow): string {
  return tableLine([
    `${title}, ${unit}`,
    formatNumber(ours.median),
    baseline ? `${formatNumber(baseline.figure.median)} ${baseline.name}` : '',
    ratio ? formatSpread(ratio) : '',
    goal ? `${goal.text}${goal.isMet ? '' : ' (**missed**)'}` : '',
  ])
}

const peerLine = (bench: string, { name, figure, ratio }: Peer): string =>
  tableLine([bench, `peer: ${name}`, formatNumber(figure.median), '', formatSpread(ratio), '', ''])

const tableLine = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

const formatSpread = ({ median, min, max, rounds }: Figure): string =>
  rounds > 1 ? `${formatNumber(median)} (${formatNumber(min)} to ${formatNumber(max)})` : formatNumber(median)

function noteLines(rows: readonly NamedRow[]): string[] {
  const notes = rows.flatMap(({ bench, row: { title, note } }) => (note ? [`- ${bench}, ${title}: ${note}`] : []))
  return notes.length > 0 ? ['', ...notes] : []
}

/** Says of which day and commit the rows of each bench are, and which benches have none. */
function ageLines(results: Results): string[] {
  const missing = benchNames.filter((name) => !results[name])
  return [
    '| rows of | measured | commit |',
    '|---|---|---|',
    ...Object.entries(results).map(([bench, { at, commit }]) =>
      tableLine([bench, at.slice(0, 10), commit ?? 'not recorded']),
    ),
    ...(missing.length > 0 ? ['', `Not measured yet: ${missing.join(', ')}.`] : []),
  ]
}

function goalSentence(results: Results): string {
  const goals = allRows(results).flatMap(({ row: { goal } }) => (goal ? [goal] : []))
  return `${goals.filter(({ isMet }) => isMet).length} of ${goals.length} goals are met.`
}

function machineSentence(results: Results): string {
  const machines = Object.values(results).map(
    ({ machine: { processor, cores, memoryGiB }, node, at }) =>
      `${processor}, ${cores} cores, ${memoryGiB} GiB, Node ${node.slice(1)}, ${at.slice(0, 10)}`,
  )
  return `Measured on: ${[...new Set(machines)].join('; ')}. Brackets hold the smallest and the largest round.`
}
