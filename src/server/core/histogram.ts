// How long things took, by a label, as a histogram for Prometheus: noting one is an addition or two.
import type { Histogram, Registry } from 'prom-client'

/** Upper bounds of the buckets, in seconds. */
const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

class Series {
  readonly counts = new Float64Array(bounds.length + 1)
  sum = 0

  observe(seconds: number): void {
    let i = 0
    while (i < bounds.length && seconds > (bounds[i] as number)) i++
    this.counts[i] = (this.counts[i] as number) + 1
    this.sum += seconds
  }
}

/** In place of the library's own, which makes objects and a text of the labels for everything that it notes. */
export class DurationHistogram<L extends string> {
  readonly name: string
  readonly #help: string
  readonly #label: L
  readonly #series = new Map<string, Series>()

  constructor(registry: Registry, name: `roomkeeper_${string}_seconds`, help: string, label: L) {
    this.name = name
    this.#help = help
    this.#label = label
    // The registry asks what is registered for nothing but its name and get().
    registry.registerMetric(this as unknown as Histogram<L>)
  }

  observe(value: string, seconds: number): void {
    let series = this.#series.get(value)
    if (!series) {
      series = new Series()
      this.#series.set(value, series)
    }
    series.observe(seconds)
  }

  async get() {
    const values = [...this.#series].flatMap(([value, { counts, sum }]) => {
      const labels = { [this.#label]: value }
      let count = 0
      const buckets = [...counts].map((n, i) => {
        count += n
        return { metricName: `${this.name}_bucket`, labels: { le: bounds[i] ?? '+Inf', ...labels }, value: count }
      })
      return [
        ...buckets,
        { metricName: `${this.name}_sum`, labels, value: sum },
        { metricName: `${this.name}_count`, labels, value: count },
      ]
    })
    return { name: this.name, help: this.#help, type: 'histogram', values, aggregator: 'sum' }
  }
}
