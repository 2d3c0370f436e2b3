// Counts latencies in buckets for each value of one label, and writes them in the text format of Prometheus.

/** Upper bounds of the buckets. A latency above all of them is counted in the bucket +Inf. */
const boundSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

interface Series {
  /** Latencies in each bucket, without those in smaller buckets; the last is +Inf. */
  readonly counts: number[]
  sumSeconds: number
}

/**
 * Replaces the histogram of prom-client, which formats its label and a bound as text for every latency. That took several microseconds
 * of each request (bench row `reads`, endpointsGet).
 */
export class LatencyHistogram {
  readonly #name: string
  readonly #help: string
  readonly #label: string
  readonly #series = new Map<string, Series>()

  constructor(name: `roomkeeper_${string}_seconds`, help: string, label: string) {
    this.#name = name
    this.#help = help
    this.#label = label
  }

  /** `labelValue` is written as it is, so it must be a name from the code, without quotes, backslashes or line breaks. */
  observe(labelValue: string, seconds: number): void {
    let series = this.#series.get(labelValue)
    if (!series) {
      series = { counts: [...boundSeconds, Number.POSITIVE_INFINITY].map(() => 0), sumSeconds: 0 }
      this.#series.set(labelValue, series)
    }
    let bucket = 0
    while (bucket < boundSeconds.length && seconds > (boundSeconds[bucket] as number)) bucket++
    series.counts[bucket] = (series.counts[bucket] as number) + 1
    series.sumSeconds += seconds
  }

  /** Returns the lines of a scrape, each with its line break. */
  toText(): string {
    const lines = [`# HELP ${this.#name} ${this.#help}`, `# TYPE ${this.#name} histogram`]
    for (const [labelValue, { counts, sumSeconds }] of this.#series) {
      const label = `${this.#label}="${labelValue}"`
      let count = 0
      for (const [bucket, inBucket] of counts.entries()) {
        count += inBucket
        lines.push(`${this.#name}_bucket{le="${boundSeconds[bucket] ?? '+Inf'}",${label}} ${count}`)
      }
      lines.push(`${this.#name}_sum{${label}} ${sumSeconds}`, `${this.#name}_count{${label}} ${count}`)
    }
    return `${lines.join('\n')}\n`
  }
}
