// Metrics for Prometheus: requests by operation and status, latencies, the database, the process.

import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { LatencyHistogram } from './latency-histogram.ts'

/** Gauges of prom-client with names of counters, which promtool refuses. Their sums by type, nodejs_active_*, remain. */
const misnamedMetrics = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
] as const
/** Which program runs, on which Node and database. The commit is absent if it is not known. */
export type BuildLabels = Readonly<Record<'version' | 'node' | 'database', string> & { commit?: string }>

/** Counts a sign-in of a person by its way and its outcome. */
export type SignInCounter = (way: 'oidc' | 'passkey' | 'link', outcome: 'accepted' | 'refused') => void

export interface Metrics {
  /** All metrics except the latencies. */
  readonly registry: Registry
  /** Returns all metrics in the text format of Prometheus. */
  scrape(): Promise<string>
  readonly db: { transaction(outcome: 'committed' | 'rolled back', seconds: number): void }
  /** Requests that were refused because they had no valid token. */
  authFailures: number
  readonly signIn: SignInCounter
  request(operation: string, status: number, seconds: number): void
  describeBuild(build: BuildLabels): void
  describeNode(node: { readonly id: number; readonly name: string }): void
  /** Registers a counter whose value is read when Prometheus scrapes it. */
  watchCount(name: `roomkeeper_${string}_total`, help: string, count: () => number): void
  watchStreams(streams: { readonly open: number; readonly sent: number; readonly cut: number }): void
  /** Counts by outcome how often providers were asked about sessions. */
  watchSessionChecks(counts: Readonly<Record<string, number>>): void
  watchUnsent(answers: { readonly bytes: number; readonly closed: number }): void
  watchPools(pools: Readonly<Record<string, { readonly waitingCount: number; readonly totalCount: number }>>): void
}

export function makeMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of misnamedMetrics) registry.removeSingleMetric(name)
  const requests = countRequests(registry)
  const transactionDurations = new LatencyHistogram(
    'roomkeeper_db_transaction_duration_seconds',
    'Writing transactions by outcome, waiting for their turn included.',
    'outcome',
  )
  const signIns = new Counter({
    name: 'roomkeeper_sign_ins_total',
    help: 'Sign-ins of people by way and outcome.',
    labelNames: ['way', 'outcome'],
    registers: [registry],
  })
  const watchCount: Metrics['watchCount'] = (name, help, count) => registerCount(registry, name, help, count)
  const metrics: Metrics = {
    registry,
    scrape: async () => `${await registry.metrics()}${requests.durations.toText()}${transactionDurations.toText()}`,
    authFailures: 0,
    signIn: (way, outcome) => signIns.inc({ way, outcome }),
    db: { transaction: (outcome, seconds) => transactionDurations.observe(outcome, seconds) },
    request: requests.count,
    watchCount,
    ...describeIn(registry),
    ...watchIn(registry),
  }
  watchCount(
    'roomkeeper_auth_failures_total',
    'Requests with no token, or with one that is not valid.',
    () => metrics.authFailures,
  )
  return metrics
}

function countRequests(registry: Registry) {
  /** Request counts by operation, then by status. */
  const requests = new Map<string, Map<number, number>>()
  new Counter({
    name: 'roomkeeper_http_requests_total',
    help: 'Requests by operation id and status.',
    labelNames: ['operation', 'status'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [operation, counts] of requests) {
        for (const [status, count] of counts) this.inc({ operation, status: String(status) }, count)
      }
    },
  })
  const durations = new LatencyHistogram(
    'roomkeeper_http_request_duration_seconds',
    'Time from request to answer, by operation id.',
    'operation',
  )
  const count: Metrics['request'] = (operation, status, seconds) => {
    let counts = requests.get(operation)
    if (!counts) {
      counts = new Map()
      requests.set(operation, counts)
    }
    counts.set(status, (counts.get(status) ?? 0) + 1)
    durations.observe(operation, seconds)
  }
  return { count, durations }
}

function registerCount(registry: Registry, name: string, help: string, count: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset()
      this.inc(count())
    },
  })
}

function registerGauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read())
    },
  })
}

/** Metrics whose labels say which program runs, and where. */
const describeIn = (registry: Registry): Pick<Metrics, 'describeBuild' | 'describeNode'> => ({
  describeBuild(build) {
    new Gauge({
      name: 'roomkeeper_build_info',
      help: 'Always 1; the labels say which version and commit run, on which Node and database.',
      labelNames: ['version', 'commit', 'node', 'database'],
      registers: [registry],
    }).set(build, 1)
  },
  describeNode(node) {
    new Gauge({
      name: 'roomkeeper_node_info',
      help: 'Always 1; the labels are the name of this server among those on its database, and the id of its row.',
      labelNames: ['name', 'id'],
      registers: [registry],
      collect() {
        this.reset()
        this.set({ name: node.name, id: String(node.id) }, 1)
      },
    })
  },
})

/** Metrics that are read from other objects when Prometheus scrapes them. */
const watchIn = (
  registry: Registry,
): Pick<Metrics, 'watchStreams' | 'watchSessionChecks' | 'watchUnsent' | 'watchPools'> => ({
  watchStreams(streams) {
    registerGauge(registry, 'roomkeeper_event_streams', 'Open streams of events.', () => streams.open)
    const sentHelp = 'Events that were sent, for each stream that got them.'
    registerCount(registry, 'roomkeeper_events_sent_total', sentHelp, () => streams.sent)
    const cutHelp = 'Streams of readers that were too slow.'
    registerCount(registry, 'roomkeeper_event_streams_cut_total', cutHelp, () => streams.cut)
  },
  watchSessionChecks(counts) {
    new Counter({
      name: 'roomkeeper_session_refreshes_total',
      help: 'Refresh requests to identity providers for sessions in use, by outcome.',
      labelNames: ['outcome'],
      registers: [registry],
      collect() {
        this.reset()
        for (const [outcome, count] of Object.entries(counts)) this.inc({ outcome }, count)
      },
    })
  },
  watchUnsent(answers) {
    const unsentHelp = 'Bytes of answers that were made and not yet taken.'
    registerGauge(registry, 'roomkeeper_http_unsent_bytes', unsentHelp, () => answers.bytes)
    const closedHelp = 'Connections that were closed because they did not take their answer.'
    registerCount(registry, 'roomkeeper_http_unread_closed_total', closedHelp, () => answers.closed)
  },
  watchPools(pools) {
    const gauge = (name: string, help: string, read: (pool: (typeof pools)[string]) => number) =>
      new Gauge({
        name,
        help,
        labelNames: ['pool'],
        registers: [registry],
        collect() {
          for (const [pool, state] of Object.entries(pools)) this.set({ pool }, read(state))
        },
      })
    if (Object.keys(pools).length === 0) return
    gauge('roomkeeper_db_connections', 'Open connections to PostgreSQL.', (pool) => pool.totalCount)
    gauge('roomkeeper_db_waiting', 'Queries that wait for a connection to PostgreSQL.', (pool) => pool.waitingCount)
  },
})
