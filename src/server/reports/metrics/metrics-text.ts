// Collects metrics in the text format of Prometheus, in which all series of a metric stand together.
import type { MetricFamily } from './families.ts'

interface Series {
  text: string
  readonly pieces: Buffer[]
}

const maxTextCharacters = 64 * 1024

export class MetricsText {
  readonly #series = new Map<MetricFamily, Series>()

  add(family: MetricFamily, labels: string, value: number): void {
    let series = this.#series.get(family)
    if (!series) {
      series = { text: `# HELP ${family.name} ${family.help}\n# TYPE ${family.name} gauge\n`, pieces: [] }
      this.#series.set(family, series)
    }
    series.text += `${family.name}{${labels}} ${value}\n`
  }

  /** One series for each value, of which the present one is 1. */
  addState(family: MetricFamily, labels: string, states: readonly string[], present: string): void {
    for (const state of states) this.add(family, `${labels},state="${state}"`, state === present ? 1 : 0)
  }

  /** Encodes what has become long, so no turn of the event loop encodes much. */
  encode(leastCharacters = maxTextCharacters): void {
    for (const series of this.#series.values()) {
      if (series.text.length < leastCharacters) continue
      series.pieces.push(Buffer.from(series.text))
      series.text = ''
    }
  }

  /** The families in the order in which they were first added. */
  end(): readonly Buffer[] {
    this.encode(1)
    return [...this.#series.values()].flatMap(({ pieces }) => pieces)
  }
}

/** Labels with these values; undefined leaves a label out. */
export const labelsOf = (values: Readonly<Record<string, string | number | null | undefined>>): string =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([name, value]) => `${name}="${escaped(String(value))}"`)
    .join()

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }
const escaped = (text: string): string => text.replace(/[\\"\n]/g, (character) => escapes[character] ?? character)
