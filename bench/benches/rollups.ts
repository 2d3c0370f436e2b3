// Measures the rollup of a quarter of an hour on PostgreSQL in organisations of several sizes; the smallest is the baseline.

import { dirname } from 'node:path'
import { quarters } from '../../src/server/core/time/slots.ts'
import { makePartition } from '../../src/server/sensors/rollups/partitions.ts'
import { rollUp } from '../../src/server/sensors/rollups/roll-up.ts'
import { withServices } from '../fixture/services.ts'
import { atMost, type Row, ratioByRound, summarise } from '../measure/figures.ts'
import type { Bench } from '../options.ts'
import { type FilledDatabase, fillDatabase } from '../servers/node-group.ts'
import { PostgresCluster, runStatement } from '../servers/postgres-cluster.ts'

const deviceCounts = [1_000, 4_000, 16_000] as const
/** So many quarters are due in each round, whatever the size, spread over all devices. */
const dueCount = 1_000
const samplesPerQuarter = 15
const maxRatio = 1.3
const lockTimeoutMs = 5_000

/** CPU for each quarter. */
interface RollupCost {
  readonly serverMicros: number
  readonly postgresMicros: number
}

export const rollups: Bench = async (options) => {
  let cluster: PostgresCluster
  try {
    cluster = await PostgresCluster.start(options.cleanup)
  } catch (error) {
    process.stdout.write(`The bench rollups is left out: ${(error as Error).message}\n`)
    return []
  }
  const databases: FilledDatabase[] = []
  for (const count of deviceCounts) databases.push(await fillDatabase(options, cluster, `devices_${count}`, count))
  const costs: RollupCost[][] = databases.map(() => [])
  // The first round compiles statements and is not counted.
  for (let round = 0; round <= (options.quick ? 1 : 5); round++) {
    for (const [i, database] of databases.entries()) {
      const cost = await measureRound(cluster, database, round)
      if (round > 0) costs[i]?.push(cost)
    }
  }
  const [smallest = [], ...larger] = costs
  return larger.flatMap((ofSize, i) => {
    const title = `a quarter rolled up, ${deviceCounts[i + 1]?.toLocaleString('en')} devices`
    const isLargest = i === larger.length - 1
    return [
      costRow(title, ofSize, smallest, ({ serverMicros }) => serverMicros, isLargest),
      costRow(`${title}: PostgreSQL`, ofSize, smallest, ({ postgresMicros }) => postgresMicros, isLargest),
    ]
  })
}

function costRow(
  title: string,
  ours: readonly RollupCost[],
  smallest: readonly RollupCost[],
  value: (cost: RollupCost) => number,
  hasGoal: boolean,
): Row {
  const ratio = ratioByRound(ours.map(value), smallest.map(value))
  return {
    title,
    unit: 'µs CPU',
    ours: summarise(ours.map(value)),
    baseline: {
      name: `${deviceCounts[0].toLocaleString('en')} devices`,
      figure: summarise(smallest.map(value)),
    },
    ratio,
    ...(hasGoal && { goal: atMost(ratio, maxRatio) }),
  }
}

/** Each round adds the samples of all devices in another quarter of the past, and rolls up that of some devices. */
async function measureRound(
  cluster: PostgresCluster,
  { url, secretKeyFile, organisation }: FilledDatabase,
  round: number,
): Promise<RollupCost> {
  const quarter = quarters.at(Date.now() / 1000) - 20 + round
  const from = quarters.start(quarter)
  return withServices({ dataDir: dirname(secretKeyFile), databaseUrl: url, secretKeyFile }, async (services) => {
    for (const day of new Set([from, from + 899].map((time) => Math.floor(time / 86_400)))) {
      await makePartition(services.db, day, lockTimeoutMs)
    }
    const { key } = organisation.org
    const step = Math.max(1, Math.floor(organisation.devices.length / dueCount))
    const slotOf = `(${from} + n * 60) / 300`
    await runStatement(
      url,
      `insert into samples (org, slot, endpoint, timestamp, shutter_closed, co2, humidity, temp, people)
         select ${key}, ${slotOf}, e.number, ${from} + n * 60, 0, 400 + n, 300 + n, 200 + n, n % 9
         from endpoints e, generate_series(0, ${samplesPerQuarter - 1}) n`,
    )
    await runStatement(
      url,
      `insert into sample_due (org, endpoint, slot) select ${key}, number, ${quarter} from endpoints
         where number % ${step} = 0 order by number limit ${dueCount}`,
    )
    await runStatement(url, 'analyze samples, sample_due, sample_quarters')
    const [due] = await runStatement<{ count: number }>(url, 'select count(*)::int as count from sample_due')
    const postgresBefore = cluster.cpuSeconds()
    const before = process.cpuUsage()
    await rollUp(services)
    const { user, system } = process.cpuUsage(before)
    const postgresMicros = (cluster.cpuSeconds() - postgresBefore) * 1e6
    const [made] = await runStatement<{ due: number; quarters: number }>(
      url,
      `select (select count(*)::int from sample_due) as due, (select count(*)::int from sample_quarters where slot = ${quarter}) as quarters`,
    )
    const count = Number(due?.count)
    if (made?.due !== 0 || made?.quarters !== count) {
      throw new Error(`${count} quarters were due, but ${JSON.stringify(made)} is what the rollup left.`)
    }
    return { serverMicros: (user + system) / count, postgresMicros: postgresMicros / count }
  })
}
