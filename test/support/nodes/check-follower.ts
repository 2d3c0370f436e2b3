// Compares what a follower heard with what was committed: no gap, nothing twice, except at a reset.
import type { Heard } from './event-cluster.ts'

interface Committed {
  readonly entries: number
  readonly reports: ReadonlyMap<number, number>
}

/**
 * Returns what is wrong. After its beginning, and after each reset, a follower has read the database, so that an event is missing
 * only if it was committed later; between resets the numbers of entries, and of each node's reports, must be consecutive.
 */
export function findMistakes(heard: readonly Heard[], committed: Committed): string[] {
  const mistakes: string[] = []
  /** The last event of each source since the last reset. */
  let last = new Map<string, number>()
  /** The numbers that were in the database at the last reset. */
  let read = new Map<string, number>()
  const sourceOf = ({ what, node }: Heard) => (what === 'entry' ? 'entry' : `report of node ${node}`)
  for (const [i, step] of heard.entries()) {
    if (step.what === 'begin' || step.what === 'reset') {
      last = new Map()
      read = new Map([...step.reports].map(([node, number]) => [`report of node ${node}`, number]))
      read.set('entry', step.entries)
      continue
    }
    const source = sourceOf(step)
    const before = last.get(source)
    const { number } = step
    if (before === undefined) {
      if (number > (read.get(source) ?? 0) + 1)
        mistakes.push(`step ${i}: ${source} ${number} is the first, ${number - 1} is missing`)
    } else if (number !== before + 1) mistakes.push(`step ${i}: ${source} ${number} follows ${before}`)
    last.set(source, number)
  }
  const expected = new Map([...committed.reports].map(([node, number]) => [`report of node ${node}`, number]))
  expected.set('entry', committed.entries)
  for (const [source, number] of expected) {
    const known = Math.max(last.get(source) ?? 0, read.get(source) ?? 0)
    if (known < number) mistakes.push(`end: ${source} ${number} is missing, the last one is ${known}`)
  }
  return mistakes
}
