// Compares the same work at several sizes; the smallest size is the baseline of the others.
import type { BenchOptions } from '../options.ts'
import { type Contender, cpuRow, measureInTurns } from './comparison.ts'
import type { Row } from './figures.ts'

const maxRatio = 1.4
export const roundCount = (quick: boolean): number => (quick ? 2 : 5)

/** Contenders are in order of size and named after it. */
export async function compareSizes(
  title: string,
  contenders: readonly Contender[],
  { quick, profiles }: BenchOptions,
  count: number,
): Promise<Row[]> {
  const rounds = await measureInTurns(contenders, { rounds: roundCount(quick), count, profiles })
  const [smallest, ...larger] = contenders
  const [baseline = [], ...others] = rounds
  if (!smallest) return []
  return larger.map((contender, i) =>
    cpuRow(`${title}, ${contender.name}`, [contender, smallest], [others[i] ?? [], baseline], maxRatio),
  )
}
