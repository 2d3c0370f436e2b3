// Computes the capacity table of docs/scaling.md from the results of the bench: `node tools/capacity.ts` prints it.
import { readFileSync } from 'node:fs'

const resultsFile = new URL('../bench/results/latest.json', import.meta.url)

/** The model: what devices do, and what one node and one row take. The rest is measured. */
const devicesPerNode = 50_000
const samplesPerMinute = 1
const sampleBytes = 150
const rawDays = 30
const rollupBytesPerDevice = 24e6

const fleets = [10_000, 30_000, 100_000, 300_000, 1_000_000]

interface BenchRow {
  readonly title: string
  readonly unit: string
  readonly ours: { readonly median: number }
}
type Results = Readonly<Record<string, { readonly rows: readonly BenchRow[] }>>

interface Costs {
  readonly sampleUs: number
  readonly postgresSampleUs: number
  readonly connectUs: number
  readonly postgresConnectUs: number
  readonly deviceKib: number
}

/** A row that the bench does not have any more is an error, so that the table cannot become stale unnoticed. */
function findCost(results: Results, suite: string, title: string): number {
  const row = results[suite]?.rows.find((r) => r.title === title)
  if (!row) throw new Error(`bench/results/latest.json has no row "${title}" in ${suite}.`)
  return row.ours.median
}

const sampleAtRate = 'durable QoS 1 sample at 500 a second'
const connect = 'connect and subscribe'

const costsOf = (results: Results): Costs => ({
  sampleUs: findCost(results, 'rates', sampleAtRate),
  postgresSampleUs: findCost(results, 'rates', `${sampleAtRate}: PostgreSQL`),
  connectUs: findCost(results, 'nodes', connect),
  postgresConnectUs: findCost(results, 'nodes', `${connect}: PostgreSQL`),
  deviceKib: findCost(results, 'connect', 'memory per idle device'),
})

const grouped = (value: number): string => Math.round(value).toLocaleString('en-GB')
const bytes = (value: number): string =>
  value < 1e12 ? `${grouped(value / 1e9)} GB` : `${(value / 1e12).toFixed(1)} TB`
const cores = (value: number): string => (value < 0.1 ? value.toFixed(2) : value.toFixed(1))

function rowOf(
  devices: number,
  { sampleUs, postgresSampleUs, connectUs, postgresConnectUs, deviceKib }: Costs,
): string {
  // One more than needed, so that one may be away.
  const nodes = Math.ceil(devices / devicesPerNode) + 1
  const perNode = devices / nodes
  const samplesPerSecond = (devices * samplesPerMinute) / 60
  const cells = [
    grouped(devices),
    `${nodes}`,
    grouped(samplesPerSecond),
    cores((samplesPerSecond / nodes) * sampleUs * 1e-6),
    `${grouped((perNode * deviceKib) / 1024)} MiB`,
    `${grouped((perNode / (nodes - 1)) * connectUs * 1e-6)} s`,
    `${grouped(perNode * postgresConnectUs * 1e-6)} s`,
    cores(samplesPerSecond * postgresSampleUs * 1e-6),
    `${25 * nodes + 20}`,
    bytes(devices * samplesPerMinute * 1440 * rawDays * sampleBytes),
    bytes(devices * rollupBytesPerDevice),
  ]
  return `| ${cells.join(' | ')} |`
}

export function capacityTable(): string {
  const costs = costsOf(JSON.parse(readFileSync(resultsFile, 'utf8')))
  const headings = [
    'devices',
    'nodes',
    'samples/s',
    'cores of a node',
    'memory of its connections',
    'CPU of each other node when one dies',
    'CPU of PostgreSQL when one dies',
    'cores of PostgreSQL',
    '`max_connections`',
    'samples of 30 days',
    'history of 2 years',
  ]
  return [
    `| ${headings.join(' | ')} |`,
    `|${'---|'.repeat(headings.length)}`,
    ...fleets.map((devices) => rowOf(devices, costs)),
  ].join('\n')
}

if (import.meta.main) process.stdout.write(`${capacityTable()}\n`)
