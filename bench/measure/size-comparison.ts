// The same work at several sizes, in turns: the smallest is the limit beside each of the others.
import type { BenchOptions } from '../bench.ts'
import { costLine, type Side, takeTurns } from './comparison.ts'
import type { Line } from './figures.ts'

const most = 1.4
export const roundsOf = (quick: boolean): number => (quick ? 2 : 5)

/** Sides from the smallest to the largest, named by how large they are. */
export async function growing(
  what: string,
  sides: readonly Side[],
  { quick, profiles }: BenchOptions,
  count: number,
): Promise<Line[]> {
  const rounds = await takeTurns(sides, { rounds: roundsOf(quick), count, profiles })
  const [smallest, ...larger] = sides
  const [limit = [], ...others] = rounds
  if (!smallest) return []
  return larger.map((side, i) => costLine(`${what}, ${side.name}`, [side, smallest], [others[i] ?? [], limit], most))
}
