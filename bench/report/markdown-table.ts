// The table of goals as the README has it, made of the results that are kept.
import type { Figure, Line } from '../measure/figures.ts'
import { number } from './terminal-table.ts'

export interface Entry {
  readonly at: string
  readonly node: string
  readonly machine: { readonly processor: string; readonly cores: number; readonly memoryGiB: number }
  readonly lines: readonly Line[]
}
export type Results = Readonly<Record<string, Entry>>

const [begin, end] = ['<!-- measured: written by npm run bench -->', '<!-- measured: end -->'] as const

/** Everything that has a goal or was asked for, one line each; then what a reader has to know of some, and where and when it was. */
export function quote(results: Results): string {
  const lines = Object.entries(results).flatMap(([name, entry]) =>
    entry.lines.filter(({ goal, isQuoted }) => goal || isQuoted).map((line) => ({ name, line })),
  )
  const notes = lines.flatMap(({ name, line: { what, note } }) => (note ? [`- ${name}, ${what}: ${note}`] : []))
  const places = Object.values(results).map(({ machine: { processor, cores, memoryGiB }, node, at }) => {
    const day = at.slice(0, 10)
    return `${processor}, ${cores} cores, ${memoryGiB} GiB, Node ${node.slice(1)}, ${day}`
  })
  return [
    '| bench | what | ours | beside it | ratio | goal | met |\n|---|---|---|---|---|---|---|',
    ...lines.map(({ name, line }) => row(name, line)),
    ...(notes.length > 0 ? ['', ...notes] : []),
    '',
    `Measured on: ${[...new Set(places)].join('; ')}. In brackets are the smallest and the largest of the rounds.`,
  ].join('\n')
}

function row(name: string, { what, unit, ours, limit, ratio, goal }: Line): string {
  const cells = [
    name,
    `${what}, ${unit}`,
    ratio ? number(ours.median) : spread(ours),
    limit ? `${number(limit.figure.median)} ${limit.name}` : '',
    ratio ? spread(ratio) : '',
    goal?.text ?? 'shown',
    goal ? (goal.isMet ? 'yes' : '**no**') : '',
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

const spread = ({ median, min, max, rounds }: Figure) =>
  rounds > 1 ? `${number(median)} (${number(min)} to ${number(max)})` : number(median)

/** What stands between the marks, and the whole text with something else there. */
export function quoted(text: string): string {
  const [from, to] = marksIn(text)
  return text.slice(from, to).trim()
}
export function withQuote(text: string, table: string): string {
  const [from, to] = marksIn(text)
  return `${text.slice(0, from)}\n\n${table}\n\n${text.slice(to)}`
}

function marksIn(text: string): [from: number, to: number] {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from === -1 || to < from) throw new Error('the README has lost the marks around what was measured')
  return [from + begin.length, to]
}
