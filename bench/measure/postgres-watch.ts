// Measures the CPU of PostgreSQL beside that of the servers, because work that a server saves may have moved into the database.
import type { LoadResult } from '../load/load-result.ts'
import type { PostgresCluster } from '../servers/postgres-cluster.ts'
import { type Contender, cpuRow, type Round } from './comparison.ts'
import { atMost, type Row, ratioByRound, summarise } from './figures.ts'

interface Goals {
  readonly server?: number
  readonly postgres?: number
}

/** The first contender is ours, the second the baseline. `rows` makes a row for the servers and one for PostgreSQL. */
export function watchPostgres(
  cluster: PostgresCluster,
  contenders: readonly Contender[],
): { contenders: Contender[]; rows: (title: string, results: Round[][], goals: Goals) => Row[] } {
  const postgresMicros: number[][] = contenders.map(() => [])
  const watched = contenders.map((contender, i) => ({
    ...contender,
    send: async (count: number): Promise<LoadResult> => {
      const secondsBefore = cluster.cpuSeconds()
      const result = await contender.send(count)
      const micros = (cluster.cpuSeconds() - secondsBefore) * 1e6
      postgresMicros[i]?.push(micros / result.latenciesMs.length)
      return result
    },
  }))
  const rows = (title: string, results: Round[][], goals: Goals): Row[] => {
    const [ours = [], baseline = []] = postgresMicros
    const ratio = ratioByRound(ours, baseline)
    return [
      cpuRow(title, contenders, results, goals.server),
      {
        title: `${title}: PostgreSQL`,
        unit: 'µs CPU',
        ours: summarise(ours),
        baseline: { name: contenders[1]?.name ?? '', figure: summarise(baseline) },
        ratio,
        ...(goals.postgres !== undefined && { goal: atMost(ratio, goals.postgres) }),
      },
    ]
  }
  return { contenders: watched, rows }
}
