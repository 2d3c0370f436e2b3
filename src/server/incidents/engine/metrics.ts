// The Prometheus metrics of incidents: how many are open, how many opened, and how long that took. [contract D.10]
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { type RuleId, ruleIds, severities } from '../../../contract/incidents/rule-table.ts'
import type { Clock } from '../../core/clock.ts'
import { ScrapeCount } from '../../core/metrics/scrape-count.ts'
import type { Database } from '../../db/db.ts'
import { countOpenIncidents } from './metrics-store.ts'

const delayBucketSeconds = [0.5, 1, 2, 5, 10, 30, 60, 120]

export class IncidentMetrics {
  readonly #opened: Counter<'rule'>
  readonly #delay: Histogram<'rule'>

  constructor(registry: Registry, db: Database, clock: Clock) {
    const registers = [registry]
    const open = new ScrapeCount(clock, () => countOpenIncidents(db.system))
    new Gauge({
      name: 'roomkeeper_incidents',
      help: 'Open incidents, by severity.',
      labelNames: ['severity'],
      registers,
      async collect() {
        const rows = await open.current()
        this.reset()
        if (!rows) return
        const counts = new Map(rows.map(({ severity, count }) => [severity, Number(count)]))
        for (const severity of severities) this.set({ severity }, counts.get(severity) ?? 0)
      },
    })
    this.#opened = new Counter({
      name: 'roomkeeper_incidents_opened_total',
      help: 'Incidents that this server opened, by rule.',
      labelNames: ['rule'],
      registers,
    })
    for (const rule of ruleIds) this.#opened.inc({ rule }, 0)
    this.#delay = new Histogram({
      name: 'roomkeeper_incident_delay_seconds',
      help: 'Time from when a finding had held long enough until its incident was written, by rule.',
      labelNames: ['rule'],
      buckets: delayBucketSeconds,
      registers,
    })
  }

  countOpened(rule: RuleId): void {
    this.#opened.inc({ rule })
  }

  observeDelay(rule: RuleId, delayMs: number): void {
    this.#delay.observe({ rule }, Math.max(0, delayMs) / 1000)
  }
}
