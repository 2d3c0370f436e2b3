// What Prometheus can ask: requests by operation and status, latencies, the database, the process.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { DbMetrics } from './db/db.ts'

const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

export interface Metrics {
  readonly registry: Registry
  readonly db: DbMetrics
  readonly authFailures: Counter
  request(operation: string, status: number, seconds: number): void
  /** A count that somebody else keeps, told when it is asked for. */
  watchCount(name: `roomkeeper_${string}_total`, help: string, count: () => number): void
  watchStreams(streams: { readonly open: number; readonly sent: number; readonly cut: number }): void
  watchPools(pools: Readonly<Record<string, { readonly waitingCount: number; readonly totalCount: number }>>): void
}

export function makeMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const requests = new Counter({
    name: 'roomkeeper_http_requests_total',
    help: 'Requests by operation id and status.',
    labelNames: ['operation', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'roomkeeper_http_request_duration_seconds',
    help: 'Time from request to answer, by operation id.',
    labelNames: ['operation'],
    buckets: seconds,
    registers,
  })
  const transactions = new Histogram({
    name: 'roomkeeper_db_transaction_duration_seconds',
    help: 'Writing transactions by outcome, waiting for their turn included.',
    labelNames: ['outcome'],
    buckets: seconds,
    registers,
  })
  const authFailures = new Counter({
    name: 'roomkeeper_auth_failures_total',
    help: 'Requests with no token, or with one that is not valid.',
    registers,
  })
  // Finding the labelled child again costs more than counting: keep them.
  const counts = new Map<string, Counter.Internal>()
  const timers = new Map<string, Histogram.Internal<'operation'>>()
  const watchCount: Metrics['watchCount'] = (name, help, count) => {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset()
        this.inc(count())
      },
    })
  }
  return {
    registry,
    watchCount,
    watchStreams(streams) {
      new Gauge({
        name: 'roomkeeper_event_streams',
        help: 'Open streams of events.',
        registers,
        collect() {
          this.set(streams.open)
        },
      })
      watchCount(
        'roomkeeper_events_sent_total',
        'Events that were sent, for each stream that got them.',
        () => streams.sent,
      )
      watchCount('roomkeeper_event_streams_cut_total', 'Streams of readers that were too slow.', () => streams.cut)
    },
    authFailures,
    db: { transaction: (outcome, took) => transactions.labels(outcome).observe(took) },
    request(operation, status, took) {
      const name = `${operation} ${status}`
      let count = counts.get(name)
      if (!count) {
        count = requests.labels(operation, String(status))
        counts.set(name, count)
      }
      count.inc()
      let timer = timers.get(operation)
      if (!timer) {
        timer = durations.labels(operation)
        timers.set(operation, timer)
      }
      timer.observe(took)
    },
    watchPools(pools) {
      const gauge = (name: string, help: string, read: (pool: (typeof pools)[string]) => number) =>
        new Gauge({
          name,
          help,
          labelNames: ['pool'],
          registers,
          collect() {
            for (const [pool, state] of Object.entries(pools)) this.set({ pool }, read(state))
          },
        })
      if (Object.keys(pools).length === 0) return
      gauge('roomkeeper_db_connections', 'Open connections to PostgreSQL.', (pool) => pool.totalCount)
      gauge('roomkeeper_db_waiting', 'Queries that wait for a connection to PostgreSQL.', (pool) => pool.waitingCount)
    },
  }
}
